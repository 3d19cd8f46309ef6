# c63 with CUDA: docker build -f containers/cuda.Dockerfile -t c63-cuda .
# Then, with the NVIDIA container toolkit: docker run --rm --gpus all -v "$PWD:/work" c63-cuda c63enc foreman.mp4 foreman.c63
FROM debian:12 AS build
COPY tools/install_dependencies /src/tools/
RUN apt-get update && /src/tools/install_dependencies build && \
    apt-get install -y --no-install-recommends curl && \
    curl -fsSLO https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/cuda-keyring_1.1-1_all.deb && \
    apt-get install -y ./cuda-keyring_1.1-1_all.deb && apt-get update && \
    apt-get install -y --no-install-recommends cuda-nvcc-13-0 cuda-cudart-dev-13-0 cuda-nvtx-13-0 cuda-cccl-13-0 cuda-driver-dev-13-0 && \
    rm -rf /var/lib/apt/lists/* ./*.deb
ENV PATH=/usr/local/cuda/bin:$PATH
COPY . /src
WORKDIR /src
# Code for every architecture takes long; --build-arg ARCHITECTURES=90-real builds for one.
ARG ARCHITECTURES=all-major
RUN cmake --preset default -DC63_TESTS=OFF -DC63_CUDA=ON -DCMAKE_INSTALL_PREFIX=/usr "-DCMAKE_CUDA_ARCHITECTURES=${ARCHITECTURES}" && \
    cmake --build --preset default && cd build/default && cpack

# The driver comes from the host.
FROM debian:12
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
COPY --from=build /src/build/default/c63_*.deb /src/build/default/c63-ffmpeg_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
CMD ["c63enc", "--list-devices"]
