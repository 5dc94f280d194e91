//! Trains on this backend without a patch of Burn: `cargo run --release`.

use burn_mpsgraph::MpsGraphDevice;
use remote::{Network, accuracy, train};

const STEPS: usize = 400;
/// Steps after which every program has been asked for.
const FIRST: usize = 3;

fn main() -> Result<(), burn_mpsgraph::Error> {
    let device = burn_mpsgraph::device()?.autodiff();
    println!("device: {}", MpsGraphDevice.name());
    device.seed(42);
    let mut before = MpsGraphDevice.stats();
    let network = train(Network::new(32, &device), STEPS, &device, |step, loss| {
        if step + 1 == FIRST {
            before = MpsGraphDevice.stats();
        }
        if (step + 1) % 100 == 0 {
            println!("step {}: loss {loss:.4}", step + 1);
        }
    });
    let used = MpsGraphDevice.stats().since(&before);
    let steps = (STEPS - FIRST) as f64;
    println!("accuracy: {:.1} %", 100.0 * accuracy(&network, &device));
    println!(
        "a step: {:.1} ops recorded, {:.2} commits, {:.2} programs compiled",
        used.ops_recorded as f64 / steps,
        used.commits as f64 / steps,
        used.programs_compiled as f64 / steps
    );
    Ok(())
}
