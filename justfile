# Everyday commands; `just` lists them. They need nothing that the lines below do not name.

# Lists the commands.
default:
    @just --list

# Runs a kernel.
run *ARGS:
    cargo run --release -- run {{ARGS}}

# All tests.
test:
    cargo test --release --workspace

# The file tests, all or those whose name has a text in it.
files FILTER="":
    cargo test -p slipring-cli --test files -- {{FILTER}}

# Rewrites recorded output; read the difference before you commit it.
bless:
    SLIPRING_BLESS=1 cargo test -p slipring-cli --test files
    SLIPRING_BLESS=1 cargo test -p slipring-passes --test files

# What every change must pass.
ci:
    .ci/run

# Format and lints.
lint:
    cargo fmt --all
    cargo clippy --workspace --all-targets --release -- -D warnings

# Every fuzz target, some seconds each.
fuzz SECONDS="10":
    scripts/fuzz {{SECONDS}}

# Measures the programs of docs/performance.md beside numpy and prints the table; PYTHON=… names a Python that has numpy.
bench:
    cargo bench -q -p slipring-cli --bench whole

# Fails where a small set of processes takes over 3 % more instructions than recorded.
instructions:
    scripts/performance --gate

# The documentation as a site in target/book (needs mdbook).
book:
    scripts/book

# What a release hands out, in target/release-files; `--dry-run` tries it on any commit.
release *ARGS:
    scripts/release {{ARGS}}
