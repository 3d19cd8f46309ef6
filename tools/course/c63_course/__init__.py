"""The course: c63course hands it out, c63grade judges what comes back."""
