//! The whole programs of the examples and the benchmark against plain loops written here.

use slipring::{CompileRequest, Elem, Program, ProgramOptions, Tensor};
use slipring_report::CheckStatus;

use crate::kernels::kit::Type::{F16, F32};
use crate::kernels::kit::{Matrix, PLATFORMS, Type, examples};

/// Runs a program on few and on many clusters, in several orders: the bytes are the same each time, and close to the
/// expected ones.
fn expect(file: &str, sets: &[&str], inputs: &[(Type, &Matrix)], expected: &Matrix, tolerance: f64) {
    let path = examples().join("../..").join(file);
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_string()).collect();
    for name in PLATFORMS {
        let platform = slipring_machine::built_in(name).expect("a built-in platform");
        let program = Program::open(&path, &CompileRequest::new(None, &[], &sets).expect("values with names"));
        let program = program.unwrap_or_else(|error| panic!("{error}")).expect("a whole program").on(platform);
        let mut first: Option<Vec<u8>> = None;
        for (clusters, order) in [(1, 0), (3, 7), (24, 1)] {
            let mut args: Vec<Tensor<'_>> = Vec::new();
            for (ty, matrix) in inputs {
                let elem = if *ty == F16 { Elem::F16 } else { Elem::F32 };
                args.push(Tensor::of_bytes(elem, [matrix.rows, matrix.cols], ty.bytes(matrix)));
            }
            args.push(Tensor::of_bytes(Elem::F32, [expected.rows, expected.cols], vec![0; 4 * expected.data.len()]));
            let mut options = ProgramOptions::default();
            (options.clusters, options.order) = (Some(clusters), order);
            let run = program.run(args, &options).unwrap_or_else(|error| panic!("{error}"));
            assert!(run.is_complete() && run.findings().messages().is_empty(), "{file} on {name}:\n{}", run.findings());
            let bytes = run.left(inputs.len()).expect("the output").to_vec();
            if first.is_none() {
                let (row, messages) = run.compare().expect("it can be compared");
                assert!(row.verdict == CheckStatus::Clean, "{file} on {name}: {}\n{messages:?}", row.detail);
                let most = expected.data.iter().fold(0.0f64, |most, x| most.max(x.abs()));
                for (at, (found, wanted)) in F32.numbers(&bytes).iter().zip(&expected.data).enumerate() {
                    assert!(
                        (found - wanted).abs() <= tolerance * most,
                        "{file} on {name}: element {at} is {found}, not {wanted}"
                    );
                }
            }
            assert!(first.get_or_insert(bytes.clone()) == &bytes, "{file} on {name}: order {order} gives other bytes");
        }
    }
}

#[test]
fn feed_forward() {
    let (x, up, down) = (Matrix::quarters(128, 64, 1), Matrix::quarters(64, 128, 2), Matrix::quarters(128, 64, 3));
    let expected = x.times(&up).map(|x| x.max(0.0)).times(&down);
    expect("examples/programs/feed_forward.py", &[], &[(F32, &x), (F32, &up), (F32, &down)], &expected, 1e-6);
}

fn norm(x: &Matrix) -> Matrix {
    let mean = x.rows_to(|row| (row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64 + 1e-5).sqrt());
    x.by_row(&mean, |x, mean| x / mean)
}

fn columns(x: &Matrix, first: usize, count: usize) -> Matrix {
    Matrix::from(x.rows, count, |i, j| x.at(i, first + j))
}

#[test]
fn decoder_layer() {
    let (tokens, hidden, heads, middle) = (128, 256, 4, 512);
    let head = hidden / heads;
    let small = |rows, cols, seed| Matrix::quarters(rows, cols, seed).map(|x| x / 32.0);
    let x = Matrix::quarters(tokens, hidden, 1);
    let [wq, wk, wv, wo] = [2, 3, 4, 5].map(|seed| small(hidden, hidden, seed));
    let [wg, wu] = [6, 7].map(|seed| small(hidden, middle, seed));
    let wd = small(middle, hidden, 8);
    let h = norm(&x);
    let [q, k, v] = [&wq, &wk, &wv].map(|w| h.times(w));
    let mut attended = Matrix::zeros(tokens, hidden);
    for i in 0..heads {
        let [q, k, v] = [&q, &k, &v].map(|own| columns(own, i * head, head));
        let scores = q.times(&k.transposed()).map(|x| x * 0.125);
        let most = scores.rows_to(|row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let e = scores.by_row(&most, |x, most| (x - most).exp());
        let p = e.by_row(&e.rows_to(|row| row.iter().sum()), |e, sum| e / sum).times(&v);
        for row in 0..tokens {
            for col in 0..head {
                attended.data[row * hidden + i * head + col] = p.at(row, col);
            }
        }
    }
    let y = x.zip(&attended.times(&wo), |x, o| x + o);
    let h = norm(&y);
    let m = h.times(&wg).zip(&h.times(&wu), |gate, up| gate / (1.0 + (-gate).exp()) * up);
    let expected = y.zip(&m.times(&wd), |y, f| y + f);
    let inputs = [(F32, &x), (F16, &wq), (F16, &wk), (F16, &wv), (F16, &wo), (F16, &wg), (F16, &wu), (F16, &wd)];
    expect("benches/programs/decoder_layer.py", &["HIDDEN=256", "HEADS=4", "MIDDLE=512"], &inputs, &expected, 4e-3);
}
