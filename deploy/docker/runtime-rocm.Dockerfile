# The serving runtime with the kernels for AMD GPUs. Context: a staged folder (deploy/local/stage.sh runtime hip).
# BASE needs glibc >= 2.36, and ROCm's packages must be made for it: SUITE is its name in ROCm's repository. Of NODE
# only the program is taken.
ARG BASE=docker.io/library/ubuntu:24.04@sha256:786a8b558f7be160c6c8c4a54f9a57274f3b4fb1491cf65146521ae77ff1dc54
ARG NODE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${NODE} AS node

FROM ${BASE}
ARG ROCM=7.1.1
ARG SUITE=noble
# AMD's repository, or a mirror of it.
ARG REPOSITORY=https://repo.radeon.com/rocm
# rccl: ROCm's library of collectives too, for engine.collectives (deploy/docs/gpu.md, "NCCL and RCCL").
ARG RCCL=
# The repository and its priority over the distribution's own ROCm are as AMD documents them. AMD's graphics repository,
# which ROCm 7's instructions add, is left out: it has another libdrm, and ROCr takes the distribution's too (hsa-rocr
# depends on libdrm-amdgpu-amdgpu1 | libdrm-amdgpu1). From ROCm 7.13 on packages have other names (amdrocm-runtime).
# tini: process 1 of a container does not get a SIGTERM that it has no handler for yet, as Node has none while it starts.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates libstdc++6 tini && rm -rf /var/lib/apt/lists/*
# hadolint ignore=DL3020
ADD --chmod=644 ${REPOSITORY}/rocm.gpg.key /etc/apt/keyrings/rocm.asc
RUN echo "deb [arch=amd64 signed-by=/etc/apt/keyrings/rocm.asc] ${REPOSITORY}/apt/${ROCM} ${SUITE} main" \
      >/etc/apt/sources.list.d/rocm.list && \
    printf 'Package: *\nPin: release o=repo.radeon.com\nPin-Priority: 600\n' >/etc/apt/preferences.d/rocm-pin-600
# The HIP runtime with what it depends on: ROCr, which speaks to the kernel driver, and the code object manager, which is
# opened by name when kernels are loaded. No compiler, no BLAS: the kernels are compiled, and call no library.
RUN apt-get update && apt-get install -y --no-install-recommends hip-runtime-amd ${RCCL} && rm -rf /var/lib/apt/lists/* && \
    printf '/opt/rocm/lib\n/opt/rocm/lib64\n' >/etc/ld.so.conf.d/rocm.conf && ldconfig && \
    ldconfig -p >/tmp/libraries && \
    for library in libamdhip64.so libhsa-runtime64.so libamd_comgr.so; do grep -q "$library" /tmp/libraries || exit 1; done && \
    rm /tmp/libraries
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY node_modules /app/node_modules
COPY packages /app
WORKDIR /app
# Arguments of kernels are put into the device's memory, where a kernel reads them sooner than over PCIe.
ENV HIP_FORCE_DEV_KERNARG=1
ENV NODE_ENV=production HOME=/tmp
# /dev/kfd and /dev/dri/renderD* come with the device plugin, and who may open them is the node's to say: a group made
# here has not the node's number (deploy/docs/gpu.md, "Permissions on AMD nodes").
USER 65532:65532
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=16", "--heap-growing-percent=50", "runtime/dist/main.js"]
