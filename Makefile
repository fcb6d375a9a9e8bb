# Every task of the project. Bare `make` lists them; each does its own set-up and says what it is doing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo demo-down test test-vllm test-gpu bench-gpu check build native native-gpu native-tests kernels hot-loops cluster cluster-down format generate bench golden prove images-check sbom clean

BOOTSTRAP := deploy/local/bootstrap.sh
# Puts the toolchains that the bootstrap may have installed on the PATH.
ENV := source deploy/local/env.sh &&

help: ## List the tasks
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## A model on this machine, then on real Kubernetes with S3, gateway, operator (SKIP_CLUSTER=1, MODEL=smollm2, CLUSTER=current)
	@deploy/local/demo.sh up

demo-down: ## Remove every trace of the demo: its server on this machine and the local cluster
	@deploy/local/demo.sh down

test: ## Everything that CI runs: checks, unit, native, golden, integration and e2e tests
	@$(BOOTSTRAP) build test cluster check gpu
	@$(ENV) npm install --no-save --no-audit --no-fund && npx tsx test/run.ts

test-vllm: node_modules ## The real vLLM for the CPU (3 GB of Python packages) with the arguments that the operator plans
	@$(BOOTSTRAP) build && $(ENV) npm run build && test/vllm/make-venv.sh && npx tsx test/vllm/serve.ts .local/vllm

test-gpu: ## The GPU tests on this machine's device: GPU=cuda or hip; PART=build or run for either half elsewhere
	@$(if $(filter run,$(PART)),,$(MAKE) --no-print-directory node_modules && $(BOOTSTRAP) build test gpu &&) $(ENV) test/gpu/on-device.sh test $(or $(GPU),cuda) $(PART)

bench-gpu: ## Kernels and the whole model on this machine's device beside other libraries: GPU and PART as above
	@$(if $(filter run,$(PART)),,$(MAKE) --no-print-directory node_modules && $(BOOTSTRAP) build test gpu &&) $(ENV) test/gpu/on-device.sh bench $(or $(GPU),cuda) $(PART)

check: node_modules ## The static checks alone: types, lint, format, layers, dead code, file lengths, retired words, generated files, charts, GPU kernels, hot loops
	@$(BOOTSTRAP) build check gpu && $(ENV) npx tsx test/run.ts --only check

build: node_modules ## Compile TypeScript and the native addon
	@$(ENV) npm run build && npm run build:native

native: node_modules ## Compile the native addon alone
	@$(ENV) npm run build:native

native-gpu: node_modules ## The addon with the libraries for NVIDIA and AMD GPUs beside it (no GPU needed)
	@$(BOOTSTRAP) build gpu && $(ENV) cd native && npx cmake-js configure -G Ninja --CDGPU_CUDA=ON --CDGPU_HIP=ON && npx cmake-js build -G Ninja -p 2

native-tests: node_modules ## Native tests under the address and undefined-behaviour sanitizers
	@$(BOOTSTRAP) build test && $(ENV) npx tsx test/run.ts --only native

kernels: node_modules ## Compile the kernels for every GPU, none needed, and write what they take (kernels.md; QUICK=1: that it is as before)
	@$(BOOTSTRAP) build gpu && $(ENV) npx tsx test/gpu/check.ts --write $(if $(QUICK),--quick)

hot-loops: node_modules ## Estimate the cycles of the CPU kernels' hot loops and write them (native/src/backends/cpu/hot-loops.md)
	@$(BOOTSTRAP) build gpu && $(ENV) npm run build:native && npx tsx test/cpu/check.ts --write

cluster: ## Bring up the local cluster alone (the demo and the e2e tests share it)
	@$(BOOTSTRAP) build cluster && deploy/local/cluster.sh up

cluster-down: ## Remove the local cluster
	@deploy/local/cluster.sh down

format: node_modules ## Format TypeScript and C++
	@$(BOOTSTRAP) check && $(ENV) npm run format && git ls-files 'native/*.h' 'native/*.cc' 'native/*.cpp' 'native/*.cu' | xargs clang-format -i

generate: node_modules ## Regenerate what is generated: types, validators, pages, the chart's CRD
	@$(ENV) npm run generate

bench: node_modules ## Prefill and decode tok/s on a model of Qwen3-0.6B's shape beside llama.cpp, in turn
	@$(BOOTSTRAP) build && $(ENV) npx tsx test/bench/peers.ts

golden: node_modules ## The engine against its references in every combination: formats, ranks, cache, chunks (an hour)
	@$(BOOTSTRAP) build && $(ENV) npm run build && npm run build:native
	@$(ENV) npx tsx test/golden/matrix/run.ts
	@$(ENV) npx tsx test/golden/real/run.ts
	@$(ENV) test/gpu/emulated-goldens.sh
	@$(ENV) GOLDEN_WIDE=1 npm test -- --selectProjects golden --testPathPatterns 'golden.test|identity|rank-restart|long-context' --forceExit

prove: ## What takes a quiet machine or an hour: the gap between chunks, load, attacks and soak, 1,000 services, agents, orders of accesses in GPU kernels, and fuzzing of loaders and API
	@deploy/local/demo.sh operator
	@$(ENV) npx tsx test/bench/chunk-gap.ts
	@$(ENV) npm run build && npm run build:native
	@$(ENV) npx tsx test/bench/server-overhead.ts
	@$(ENV) npx tsx test/bench/long-prompt.ts
	@$(ENV) npx tsx test/bench/streams.ts
	@$(ENV) npx tsx test/bench/soak.ts 10
	@$(ENV) npx tsx test/bench/attacks.ts 10
	@$(ENV) npx tsx test/bench/operator-scale.ts
	@$(ENV) npx tsx test/bench/gateway.ts
	@$(ENV) native/test/access/run.sh
	@$(ENV) npx tsx test/bench/queues.ts
	@$(ENV) npx tsx test/bench/groups.ts
	@$(ENV) npx tsx test/bench/group-on-node.ts
	@$(ENV) npx tsx test/bench/image-volume-on-node.ts
	@$(ENV) npx tsx test/bench/disaggregation-on-node.ts
	@$(ENV) npx tsx test/bench/pool-on-node.ts
	@$(ENV) npx tsx test/agents/run.ts
	@$(ENV) test/conformance/schemathesis.sh 420
	@$(ENV) SERVICES=200 npm test -- --selectProjects integration --testPathPatterns integration/api-versions --forceExit
	@$(ENV) SCHEMAS=500 npm test -- --selectProjects integration --testPathPatterns integration/schemas --forceExit
	@$(ENV) FUZZ_SECONDS=1800 FUZZ_CASES=100000 npm test -- --selectProjects unit --testPathPatterns fuzz

images-check: node_modules ## Build the runtime's images without a registry, where bases are made of packages, and look into each (IMAGES="cpu cuda rocm")
	@$(BOOTSTRAP) build cluster && $(ENV) npm run build && npm run build:native && test/images/check.sh $(IMAGES)

sbom: node_modules ## Bill of materials of the shipped npm packages, in .build/sbom
	@$(BOOTSTRAP) build && $(ENV) deploy/release/sbom.sh

clean: ## Remove build outputs (not the demo: make demo-down)
	@rm -rf .build .stage node_modules */dist native/build*

# Not `npm ci`: it refuses a lock file without the optional packages of other platforms, which not every registry has.
node_modules: package.json package-lock.json
	@$(BOOTSTRAP) build && $(ENV) npm install --no-save --no-audit --no-fund
