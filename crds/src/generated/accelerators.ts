// Generated from crds/accelerators.yaml by `npm run generate`. Do not edit.

export const accelerators = {
  "t4": {
    "vendor": "nvidia",
    "architecture": "sm_75",
    "memoryMiB": 15360,
    "bandwidth": 320,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "Tesla-T4*",
    "partition": null
  },
  "v100-16gb": {
    "vendor": "nvidia",
    "architecture": "sm_70",
    "memoryMiB": 16160,
    "bandwidth": 900,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "Tesla-V100-*-16GB",
    "partition": null
  },
  "v100-32gb": {
    "vendor": "nvidia",
    "architecture": "sm_70",
    "memoryMiB": 32480,
    "bandwidth": 900,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "Tesla-V100-*-32GB*",
    "partition": null
  },
  "a10": {
    "vendor": "nvidia",
    "architecture": "sm_86",
    "memoryMiB": 23028,
    "bandwidth": 600,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-A10",
    "partition": null
  },
  "a10g": {
    "vendor": "nvidia",
    "architecture": "sm_86",
    "memoryMiB": 23028,
    "bandwidth": 600,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-A10G",
    "partition": null
  },
  "a100-40gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 40960,
    "bandwidth": 1555,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": null
  },
  "a100-40gb-1g.5gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 4864,
    "bandwidth": 185,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.5gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "1g.5gb"
  },
  "a100-40gb-1g.10gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 9850,
    "bandwidth": 374,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.10gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "1g.10gb"
  },
  "a100-40gb-2g.10gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 9984,
    "bandwidth": 379,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-2g.10gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "2g.10gb"
  },
  "a100-40gb-3g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 20090,
    "bandwidth": 763,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-3g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "3g.20gb"
  },
  "a100-40gb-4g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 20090,
    "bandwidth": 763,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-4g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "4g.20gb"
  },
  "a100-40gb-7g.40gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 40325,
    "bandwidth": 1531,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-7g.40gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100-*-40GB*",
    "partition": "7g.40gb"
  },
  "a100-80gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 81920,
    "bandwidth": 1935,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": null
  },
  "a100-80gb-1g.10gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 9728,
    "bandwidth": 230,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.10gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "1g.10gb"
  },
  "a100-80gb-1g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 19712,
    "bandwidth": 466,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "1g.20gb"
  },
  "a100-80gb-2g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 19968,
    "bandwidth": 472,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-2g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "2g.20gb"
  },
  "a100-80gb-3g.40gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 40192,
    "bandwidth": 949,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-3g.40gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "3g.40gb"
  },
  "a100-80gb-4g.40gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 40192,
    "bandwidth": 949,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-4g.40gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "4g.40gb"
  },
  "a100-80gb-7g.80gb": {
    "vendor": "nvidia",
    "architecture": "sm_80",
    "memoryMiB": 80640,
    "bandwidth": 1905,
    "fp8": "none",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-7g.80gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "*A100*80GB*",
    "partition": "7g.80gb"
  },
  "l4": {
    "vendor": "nvidia",
    "architecture": "sm_89",
    "memoryMiB": 23034,
    "bandwidth": 300,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-L4",
    "partition": null
  },
  "l40s": {
    "vendor": "nvidia",
    "architecture": "sm_89",
    "memoryMiB": 46068,
    "bandwidth": 864,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-L40S",
    "partition": null
  },
  "rtx-6000-ada": {
    "vendor": "nvidia",
    "architecture": "sm_89",
    "memoryMiB": 49140,
    "bandwidth": 960,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-RTX-6000-Ada*",
    "partition": null
  },
  "h100": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 81559,
    "bandwidth": 3350,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": null
  },
  "h100-1g.10gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 9984,
    "bandwidth": 410,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.10gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "1g.10gb"
  },
  "h100-1g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 20090,
    "bandwidth": 825,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "1g.20gb"
  },
  "h100-2g.20gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 20090,
    "bandwidth": 825,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-2g.20gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "2g.20gb"
  },
  "h100-3g.40gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 40448,
    "bandwidth": 1661,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-3g.40gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "3g.40gb"
  },
  "h100-4g.40gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 40448,
    "bandwidth": 1661,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-4g.40gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "4g.40gb"
  },
  "h100-7g.80gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 81152,
    "bandwidth": 3333,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-7g.80gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H100*",
    "partition": "7g.80gb"
  },
  "h200": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 143771,
    "bandwidth": 4800,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": null
  },
  "h200-1g.18gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 15359,
    "bandwidth": 513,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.18gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "1g.18gb"
  },
  "h200-1g.35gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 30003,
    "bandwidth": 1002,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.35gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "1g.35gb"
  },
  "h200-2g.35gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 30003,
    "bandwidth": 1002,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-2g.35gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "2g.35gb"
  },
  "h200-3g.71gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 60928,
    "bandwidth": 2034,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-3g.71gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "3g.71gb"
  },
  "h200-4g.71gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 60928,
    "bandwidth": 2034,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-4g.71gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "4g.71gb"
  },
  "h200-7g.141gb": {
    "vendor": "nvidia",
    "architecture": "sm_90a",
    "memoryMiB": 120832,
    "bandwidth": 4034,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-7g.141gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-H200*",
    "partition": "7g.141gb"
  },
  "b200": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 183359,
    "bandwidth": 7672,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": null
  },
  "b200-1g.23gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 19660,
    "bandwidth": 823,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.23gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "1g.23gb"
  },
  "b200-1g.45gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 38604,
    "bandwidth": 1615,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-1g.45gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "1g.45gb"
  },
  "b200-2g.45gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 38604,
    "bandwidth": 1615,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-2g.45gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "2g.45gb"
  },
  "b200-3g.90gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 77209,
    "bandwidth": 3231,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-3g.90gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "3g.90gb"
  },
  "b200-4g.90gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 77209,
    "bandwidth": 3231,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-4g.90gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "4g.90gb"
  },
  "b200-7g.180gb": {
    "vendor": "nvidia",
    "architecture": "sm_100",
    "memoryMiB": 153600,
    "bandwidth": 6427,
    "fp8": "e4m3",
    "wave": 32,
    "resources": [
      "nvidia.com/mig-7g.180gb",
      "nvidia.com/gpu"
    ],
    "env": {},
    "product": "NVIDIA-B200*",
    "partition": "7g.180gb"
  },
  "mi210": {
    "vendor": "amd",
    "architecture": "gfx90a",
    "memoryMiB": 65520,
    "bandwidth": 1638,
    "fp8": "none",
    "wave": 64,
    "resources": [
      "amd.com/gpu"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI210*",
    "partition": null
  },
  "mi250x": {
    "vendor": "amd",
    "architecture": "gfx90a",
    "memoryMiB": 65520,
    "bandwidth": 1638,
    "fp8": "none",
    "wave": 64,
    "resources": [
      "amd.com/gpu"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI250X*",
    "partition": null
  },
  "mi300x": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 196592,
    "bandwidth": 5300,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": null
  },
  "mi300x-spx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 196592,
    "bandwidth": 5300,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/spx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "spx_nps1"
  },
  "mi300x-dpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 98296,
    "bandwidth": 2650,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/dpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "dpx_nps1"
  },
  "mi300x-dpx-nps2": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 98296,
    "bandwidth": 2650,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/dpx_nps2"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "dpx_nps2"
  },
  "mi300x-qpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 49148,
    "bandwidth": 1325,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/qpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "qpx_nps1"
  },
  "mi300x-qpx-nps4": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 49148,
    "bandwidth": 1325,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/qpx_nps4"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "qpx_nps4"
  },
  "mi300x-cpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 24574,
    "bandwidth": 663,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/cpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "cpx_nps1"
  },
  "mi300x-cpx-nps4": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 24574,
    "bandwidth": 663,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/cpx_nps4"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI300X*",
    "partition": "cpx_nps4"
  },
  "mi325x": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 262128,
    "bandwidth": 6000,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": null
  },
  "mi325x-spx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 262128,
    "bandwidth": 6000,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/spx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "spx_nps1"
  },
  "mi325x-dpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 131064,
    "bandwidth": 3000,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/dpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "dpx_nps1"
  },
  "mi325x-dpx-nps2": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 131064,
    "bandwidth": 3000,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/dpx_nps2"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "dpx_nps2"
  },
  "mi325x-qpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 65532,
    "bandwidth": 1500,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/qpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "qpx_nps1"
  },
  "mi325x-qpx-nps4": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 65532,
    "bandwidth": 1500,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/qpx_nps4"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "qpx_nps4"
  },
  "mi325x-cpx-nps1": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 32766,
    "bandwidth": 750,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/cpx_nps1"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "cpx_nps1"
  },
  "mi325x-cpx-nps4": {
    "vendor": "amd",
    "architecture": "gfx942",
    "memoryMiB": 32766,
    "bandwidth": 750,
    "fp8": "e4m3fnuz",
    "wave": 64,
    "resources": [
      "amd.com/gpu",
      "amd.com/cpx_nps4"
    ],
    "env": {
      "HIP_FORCE_DEV_KERNARG": "1"
    },
    "product": "AMD_Instinct_MI325X*",
    "partition": "cpx_nps4"
  }
} as const;
