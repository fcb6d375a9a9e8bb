# The serving runtime with the kernels for NVIDIA GPUs. Context: a staged folder (deploy/local/stage.sh runtime cuda).
# The CUDA runtime is linked in, and the driver's libcuda comes from the node by NVIDIA's container toolkit, so BASE is
# that of runtime-cpu.Dockerfile, and of CUDA nothing is installed.
ARG BASE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${BASE}
# Process 1 of a container does not get a SIGTERM that it has no handler for yet, as Node has none while it starts.
RUN command -v tini || { apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*; }
COPY node_modules /app/node_modules
COPY packages /app
WORKDIR /app
# compute: libcuda, without which there is no CUDA; utility: nvidia-smi and NVML, for whoever looks into a pod. Which
# devices, the device plugin says; a default of "all" here would show every GPU of the node to a pod that asks for none.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
# With an older driver the container does not start, and the reason is among the pod's events.
ENV NVIDIA_REQUIRE_CUDA=cuda>=13.0
ENV NODE_ENV=production HOME=/tmp
USER 65532:65532
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=16", "--heap-growing-percent=50", "runtime/dist/main.js"]
