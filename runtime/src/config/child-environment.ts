// What a child process gets of the server's environment: the variables that systems, devices and the engine's libraries
// read, and no others. A child runs what a client or a checkpoint gave it, so credentials and keys end in the server.

/** Of the system: where programs, libraries and temporary files are, and how time and text are written. */
const system = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'HOSTNAME',
  'LD_LIBRARY_PATH',
  'LD_PRELOAD',
  'GLIBC_TUNABLES',
];

/** Of Node: limits of memory and the like. */
const node = ['NODE_OPTIONS', 'NODE_ENV'];

/** The engine's own; no other setting of the server is one of a child. */
const engine = ['LLMSERVICE_NATIVE_ADDON', 'LLMSERVICE_NCCL_LIBRARY', 'LLMSERVICE_RANKS_SHARE_DEVICES'];

const allowed: ReadonlySet<string> = new Set([...system, ...node, ...engine]);

/**
 * Of devices (CUDA, ROCm), collectives and their networks, threads, memory and sanitizers: their libraries have hundreds
 * of variables, which `spec.env` may set.
 */
const families = [
  ...['CUDA_', 'CUBLAS_', 'CUBLASLT_', 'NVIDIA_', 'NVRTC_'],
  ...['HIP_', 'HSA_', 'ROCR_', 'ROC_', 'ROCM_', 'ROCBLAS_', 'HIPBLASLT_'],
  ...['AMD_', 'GPU_MAX_', 'GPU_DEVICE_', 'MIOPEN_'],
  ...['NCCL_', 'RCCL_', 'GLOO_', 'UCX_', 'FI_', 'IB_'],
  ...['OMP_', 'GOMP_', 'KMP_', 'MALLOC_', 'LC_'],
  ...['ASAN_', 'LSAN_', 'TSAN_', 'UBSAN_'],
];

/** A family may have a credential too, such as NVIDIA_API_KEY. */
const secretive = /(^|_)(KEY|APIKEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS?|AUTH)(_|$)/;

/** The part of the environment with which every child process of the server is to be started. */
export function childEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && reaches(entry[0]),
    ),
  );
}

function reaches(name: string): boolean {
  if (allowed.has(name)) return true;
  return families.some((family) => name.startsWith(family)) && !secretive.test(name.toUpperCase());
}
