# c63 on the CPU: docker build -f containers/cpu.Dockerfile -t c63 .
# Then: docker run --rm -v "$PWD:/work" c63 c63enc foreman.mp4 foreman.c63
FROM debian:12 AS build
COPY tools/install_dependencies /src/tools/
RUN apt-get update && /src/tools/install_dependencies build && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN cmake --preset cpu -DC63_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr && cmake --build --preset cpu && cd build/cpu && cpack

FROM debian:12
COPY --from=build /src/build/cpu/c63_*.deb /src/build/cpu/c63-ffmpeg_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
CMD ["c63enc", "--version"]
