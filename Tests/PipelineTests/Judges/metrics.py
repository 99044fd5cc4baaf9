"""Reads Prometheus' text format from standard input by the official client's parser, and prints a line a sample.

NAME{LABEL=VALUE,…} VALUE, labels by name; and before them one line a family: # NAME TYPE. Breaks on what is malformed, on a
sample that its family's type does not allow, and on a sample that stands twice.
"""
import sys
from prometheus_client.parser import text_string_to_metric_families

SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}
seen = set()
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation, f"{family.name} has no help"
    print(f"# {family.name} {family.type}")
    last = {}
    for sample in family.samples:
        assert sample.name in [family.name + suffix for suffix in SUFFIXES[family.type]], sample
        labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
        row = f"{sample.name}{{{labels}}}"
        assert row not in seen, f"{row} stands twice"
        seen.add(row)
        if sample.name.endswith("_bucket"):
            rest = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
            bound, count = last.get(rest, (float("-inf"), 0))
            assert float(sample.labels["le"]) > bound and sample.value >= count, f"{row} is no bucket after {bound}"
            last[rest] = (float(sample.labels["le"]), sample.value)
        if family.type == "histogram" and sample.name.endswith("_count"):
            assert last[tuple(sorted(sample.labels.items()))] == (float("inf"), sample.value), row
        print(f"{row} {sample.value:g}")
