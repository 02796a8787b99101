"""All benchmarks, one after another: ``python -m benchmarks``."""

from benchmarks import (
    batch,
    clicks,
    compare,
    counting,
    exported,
    knockout,
    load,
    measuring,
    rebpe,
    remedies,
    scheduling,
    scores,
    segment,
    sentencepiece_models,
    substrings,
    train,
    train_at_size,
    transplant,
)


def main() -> None:
    """Run each benchmark and print its table."""
    for benchmark in (
        segment,
        substrings,
        sentencepiece_models,
        knockout,
        rebpe,
        train,
        train_at_size,
        remedies,
        compare,
        scores,
        counting,
        measuring,
        scheduling,
        exported,
        transplant,
        batch,
        clicks,
        load,
    ):
        print(f"\n## {benchmark.__name__.removeprefix('benchmarks.')}\n")
        benchmark.main()


if __name__ == "__main__":
    main()
