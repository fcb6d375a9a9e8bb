# The serving runtime with the CPU engine. Context: a staged folder (deploy/local/stage.sh runtime) with the compiled
# workspaces, the native addon and their production dependencies. BASE needs Node >= 22.15, glibc >= 2.36 and libstdc++.
ARG BASE=docker.io/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
FROM ${BASE}
# Process 1 of a container does not get a SIGTERM that it has no handler for yet, as Node has none while it starts.
RUN command -v tini || { apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*; }
COPY node_modules /app/node_modules
COPY packages /app
WORKDIR /app
ENV NODE_ENV=production HOME=/tmp
USER 65532:65532
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=16", "--heap-growing-percent=50", "runtime/dist/main.js"]
