// The engine's report (schema podium.report/1), as far as pages show it.
import type { Resource, RunConfig } from './types';

export interface TopTensor {
  name: string;
  source: string;
  bytes: number;
  category: string;
}

export interface Remedy {
  code: string;
  text: string;
  simulated?: {
    fits: boolean;
    over_by: number;
    bytes_saved: number;
    throughput_lost: number;
    sentence: string;
  };
  [suggested: string]: unknown;
}

export interface MemoryReport {
  tiles: number;
  bytes_per_tile: number;
  categories: string[];
  by_tile: Record<string, number[]>;
  totals: Record<string, number>;
  total_bytes: number;
  worst_tile: { tile: number; bytes: number; free: number; top_tensors: TopTensor[] };
  peak_step: { op: string | number; source: string } | null;
  overflow: { tile: number; over_by: number; region: string; remedies: Remedy[] } | null;
}

export interface TimeReport {
  total_seconds: number;
  compute_seconds: number;
  exchange_seconds: number;
  sync_seconds: number;
  host_seconds: number;
  collective_seconds: number;
  copy_seconds?: number;
  bubble_seconds?: number;
  by_tile: Record<'compute' | 'exchange' | 'sync' | 'idle', number[]>;
  passes: Record<string, number>;
  bound_by: Resource;
  sentence: string;
}

export interface OperatorRow {
  name: string;
  kind: string;
  pass: string;
  primitive: string;
  count: number;
  seconds: number;
  share: number;
  flops: number;
  tiles_used: number;
  bound_by: string;
}

export interface Report {
  schema: string;
  engine: { release: string; fingerprint: string };
  model: { name: string; parameters: number; sha256?: string };
  fits: boolean;
  step_seconds: number;
  samples_per_second: number;
  latency: { seconds: number } | null;
  intervals: { step_seconds: [number, number]; samples_per_second: [number, number]; basis: string };
  memory: MemoryReport;
  time: TimeReport;
  operators: OperatorRow[];
  parallel: {
    system: string;
    ipus: number;
    replicas: number;
    micro_batch: number;
    global_batch: number;
    partition: unknown;
  };
  config: RunConfig;
  coverage: {
    operators_total: number;
    operators_modelled: number;
    share_of_time_modelled: number;
    fallbacks: { op: string; source: string; count: number }[];
  };
  provenance: {
    constants: { name: string; value: number | string; unit: string; source: string; confidence: string }[];
  };
  checks: { name: string; ok: boolean; detail: string }[];
  notes: { code: string; message: string }[];
  simulation: { cpu_seconds: number; peak_bytes: number };
}
