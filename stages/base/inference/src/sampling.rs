//! Sampling that depends on the seed and the position alone.
//!
//! The engine has one random generator for all requests, so its samples depend on what ran before.
//! Here the randomness is put into the logits instead: the largest of `logit / temperature + g`, with
//! g from a standard Gumbel distribution, is distributed as softmax(logit / temperature) (Gumbel,
//! 1954; Maddison et al. 2014, arXiv:1411.0030), and the engine then takes the largest.

use candle_core::{Result, Tensor};
use mistralrs::CustomLogitsProcessor;

/// Adds seeded Gumbel noise to logits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SeededNoise {
    /// Above zero.
    pub(crate) temperature: f64,
    /// Seed of the request.
    pub(crate) seed: u64,
}

impl CustomLogitsProcessor for SeededNoise {
    /// `logits` is one vector over the vocabulary, `context` all tokens so far.
    fn apply(&self, logits: &Tensor, context: &[u32]) -> Result<Tensor> {
        let device = logits.device().clone();
        let mut values = logits.to_vec1::<f32>()?;
        self.perturb(&mut values, context.len() as u64);
        let length = values.len();
        Tensor::from_vec(values, length, &device)
    }
}

impl SeededNoise {
    fn perturb(&self, logits: &mut [f32], position: u64) {
        let stream = mix(self.seed ^ mix(position));
        for (token, logit) in logits.iter_mut().enumerate() {
            let bits = mix(stream.wrapping_add(token as u64));
            // Strictly between 0 and 1, so that both logarithms are finite.
            let uniform = ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            let gumbel = -(-uniform.ln()).ln();
            *logit = (f64::from(*logit) / self.temperature + gumbel) as f32;
        }
    }
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(logits: &[f32]) -> usize {
        let mut best = 0;
        for (index, logit) in logits.iter().enumerate() {
            if *logit > logits[best] {
                best = index;
            }
        }
        best
    }

    /// First outputs of SplitMix64 for seed 1234567, as in the test data of Rosetta Code and JDK.
    #[test]
    fn mixes_like_splitmix64() {
        let golden = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(mix(1_234_567_u64.wrapping_add(golden)), 3_203_168_211_198_807_973);
    }

    #[test]
    fn draws_as_often_as_softmax_says() {
        let logits = [1.0_f32, 0.0, -1.0, 2.0];
        for temperature in [0.5, 1.0, 2.0] {
            let noise = SeededNoise { temperature, seed: 7 };
            let draws = 40_000;
            let mut counts = [0_usize; 4];
            for position in 0..draws {
                let mut perturbed = logits;
                noise.perturb(&mut perturbed, position);
                counts[largest(&perturbed)] += 1;
            }
            let weights = logits.map(|logit| (f64::from(logit) / temperature).exp());
            let total: f64 = weights.iter().sum();
            for (count, weight) in counts.iter().zip(weights) {
                let expected = weight / total;
                let found = *count as f64 / draws as f64;
                // Five standard deviations.
                let tolerance = 5.0 * (expected * (1.0 - expected) / draws as f64).sqrt();
                assert!(
                    (found - expected).abs() < tolerance,
                    "temperature {temperature}: {found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn same_seed_and_position_same_noise() {
        let perturbed = |seed, position| {
            let mut logits = [0.0_f32; 16];
            SeededNoise { temperature: 1.0, seed }.perturb(&mut logits, position);
            logits
        };
        assert_eq!(perturbed(1, 5), perturbed(1, 5));
        assert_ne!(perturbed(1, 5), perturbed(1, 6));
        assert_ne!(perturbed(1, 5), perturbed(2, 5));
    }
}
