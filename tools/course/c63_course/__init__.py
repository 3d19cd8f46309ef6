"""The Python code of c63course, which hands out the course, and c63grade, which grades hand-ins."""
