//! What another project needs of slipring to run a kernel and hear what is wrong with it; `docs/rust.md` shows it.

use slipring::{Error, Kernel, Tensor};

fn main() -> Result<(), Error> {
    let (a, b) = (vec![1.5f32; 64 * 128], vec![2.0f32; 64 * 128]);
    let kernel = Kernel::open("examples/lang/1_vector_add.py")?.platform("a5")?;
    let run = kernel.run([Tensor::view(&a, [64, 128]), Tensor::view(&b, [64, 128]), Tensor::zeros([64, 128])])?;
    for message in run.findings().messages() {
        println!("{}: {}", message.code, message.message);
    }
    println!("{}; {} cycles; {:?}", run.verdict(), run.cycles(), &run.get::<f32>("c")?[..3]);
    Ok(())
}
