"""``python -m benchmarks [NAME [--option VALUE …]]``: all benchmarks, or one."""

import argparse
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import ONE_THREAD, peak_megabytes, processor

MODULES = {
    "segmenting": ("segment", "substrings", "exported"),
    "refining": ("knockout", "rebpe", "llm"),
    "ranks": ("ranks",),
    "keeping": ("keeping",),
    "transplants": ("transplant",),
    "training": ("train", "train_at_size"),
    "scoring": ("compare", "scores", "first_use"),
    "counting": ("counting",),
    "measuring": ("measuring",),
    "batch": ("batch",),
    "llama_cpp": ("llama_cpp",),
    "app": ("clicks", "typing", "visits"),
}
SEVERAL_THREADS = ("counting", "measuring", "batch", "app")
BENCHMARKS = {name: module for module, names in MODULES.items() for name in names}


def run(name: str, given: list[str]) -> None:
    """Run one benchmark; its options are the parameters of its function."""
    if BENCHMARKS[name] not in SEVERAL_THREADS:
        os.environ.update(ONE_THREAD)
    benchmark: Callable[..., None] = getattr(import_module(f"benchmarks.{BENCHMARKS[name]}"), name)
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}")
    parser.description = inspect.getdoc(benchmark)
    for option, parameter in inspect.signature(benchmark).parameters.items():
        default: Any = parameter.default
        parser.add_argument(f"--{option.replace('_', '-')}", type=type(default), default=default)
    benchmark(**vars(parser.parse_args(given)))
    print(f"\nMeasured on {processor()}.")


def main() -> None:
    """Run what the command line names."""
    name, given = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if name == "apart":  # in a process of its own, for `benchmarks.apart`
        module, function, *arguments = json.loads(given[0])
        result = getattr(import_module(module), function)(*arguments)
        print("\n" + json.dumps({**result, "megabytes": peak_megabytes()}))
    elif name in BENCHMARKS:
        run(name, given)
    elif name:
        sys.exit(f"There is no benchmark {name}, only {', '.join(BENCHMARKS)}.")
    else:
        for each in BENCHMARKS:
            print(f"\n## {each}\n", flush=True)
            subprocess.run([sys.executable, "-m", "benchmarks", each], check=True)


if __name__ == "__main__":
    main()
