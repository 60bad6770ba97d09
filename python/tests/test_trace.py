"""Traces, read with the schema that Perfetto publishes."""

import collections
import pathlib

import numpy as np
import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

import slipring

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def unknown(message):
    """Fields that the schema does not have, here and in everything inside."""
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            count += sum(map(unknown, value if field.is_repeated else [value]))
    return count


def attention(**options):
    kernel = slipring.open(EXAMPLES / "lang/6_attention.py", platform="a5")
    make = np.random.default_rng(1)
    shapes = [parameter[2] for parameter in kernel.parameters]
    arguments = [make.normal(size=shape).astype(np.float32 if at == 3 else np.float16) for at, shape in enumerate(shapes)]
    return kernel.run(*arguments, **options)


def test_schema_and_sums(tmp_path):
    run = attention(record=True)
    run.trace(tmp_path / "run.pftrace")
    trace = Trace.FromString((tmp_path / "run.pftrace").read_bytes())
    assert sum(map(unknown, trace.packet)) == 0

    tracks, names, texts, arguments, categories = {}, {}, {}, {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            tracks[track.uuid] = (track.name or track.process.process_name, track.parent_uuid)
        names.update((own.iid, own.name) for own in packet.interned_data.event_names)
        arguments.update((own.iid, own.name) for own in packet.interned_data.debug_annotation_names)
        categories.update((own.iid, own.name) for own in packet.interned_data.event_categories)
        texts.update((own.iid, own.str.decode()) for own in packet.interned_data.debug_annotation_string_values)
    sums, ends, stacks = collections.Counter(), collections.defaultdict(list), collections.defaultdict(list)
    for packet in trace.packet:
        if not packet.HasField("track_event"):
            continue
        event = packet.track_event
        stack = stacks[event.track_uuid]
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, event))
            assert names[event.name_iid]
            for flow in event.flow_ids:
                ends[flow].append(("from", packet.timestamp))
            for flow in event.terminating_flow_ids:
                ends[flow].append(("to", packet.timestamp))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            start, own = stack.pop()
            what = {arguments[one.name_iid]: one for one in own.debug_annotations}
            pipe, core = tracks[event.track_uuid]
            if pipe == "blocks":
                continue
            category = categories[own.category_iids[0]]
            reason = texts[what["reason"].string_value_iid] if category == "stall" else category
            sums[tracks[core][0], pipe, reason] += packet.timestamp - start
        else:
            assert event.type == TrackEvent.TYPE_COUNTER and event.counter_value >= 0
    assert not any(stacks.values())
    assert ends and all(sorted(side for side, _ in both) == ["from", "to"] for both in ends.values())
    assert all(dict(both)["from"] <= dict(both)["to"] for both in ends.values())

    table = collections.Counter()
    for pipe in run.facts["pipes"]:
        table[pipe["core"], pipe["pipe"], "work"] += pipe["busy"]
        for stall in pipe["stalls"]:
            table[pipe["core"], pipe["pipe"], stall["cause"]] += stall["cycles"]
    assert +table == collections.Counter({key: cycles for key, cycles in sums.items() if key[2] != "sync" and cycles})


def test_a_run_that_was_not_recorded():
    with pytest.raises(ValueError, match="record=True"):
        attention().trace("nowhere.pftrace")


def test_whole_programs(tmp_path):
    program = slipring.open(EXAMPLES.parent / "tests/files/programs/scopes.py")
    run = program.run(np.ones((64, 16), np.float32), np.zeros((64, 16), np.float32), record=True)
    run.trace(tmp_path / "run.pftrace")
    trace = Trace.FromString((tmp_path / "run.pftrace").read_bytes())
    tracks = {packet.track_descriptor.uuid for packet in trace.packet if packet.track_descriptor.name == "tasks"}
    begun = [packet for packet in trace.packet if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN]
    on_clusters = [packet for packet in begun if packet.track_event.track_uuid in tracks]
    assert len(on_clusters) == sum(len(task["clusters"]) for task in run.tasks) == len(run.timeline)
