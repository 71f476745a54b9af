//! Which device a model runs on: the one the binary was built for.

use candle_core::Device;

/// Whether models run on the processor.
pub const IS_CPU: bool = !cfg!(any(feature = "cuda", feature = "metal"));

/// The first device; on a cluster the scheduler decides which one that is.
pub(crate) fn device() -> candle_core::Result<Device> {
    if cfg!(feature = "cuda") {
        Device::new_cuda(0)
    } else if cfg!(feature = "metal") {
        Device::new_metal(0)
    } else {
        Ok(Device::Cpu)
    }
}
