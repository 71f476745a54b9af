// Reads picolib's device source as CUDA, on the host's side, without CUDA being there.
#include "src/Particles/DepositKernel.cu"
