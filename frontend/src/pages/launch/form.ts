// The choices of the launch page and the requests made of them. Pure, so that it can be tested; no formula of the engine.
import type { EstimateRequest, JobRequest } from '~/api/queries/jobs';
import type { Model, Reservation, RunConfig, Suite, System, ZooModel } from '~/api/types';

export interface LaunchForm {
  model: string | null;
  name: string;
  where: 'demand' | 'slice';
  reservation: string | null;
  system: string;
  ipus: number | null;
  suite: string | null;
  config: Omit<RunConfig, 'system' | 'ipus'>;
}

export const initialForm: LaunchForm = {
  model: null,
  name: '',
  where: 'demand',
  reservation: null,
  system: 'pod4',
  ipus: null,
  suite: null,
  config: {
    task: 'train',
    batch: 16,
    steps: 100,
    optimiser: 'sgd',
    learning_rate: 0.01,
    momentum: 0.9,
    precision: 'fp32',
    partials: 'fp32',
    seed: 0,
    dataset: 'synthetic',
    dims: {},
    available_memory_proportion: 0.6,
  },
};

type Settings = Partial<LaunchForm['config']>;

/**
 * Settings to begin with: the small one is seen to learn within a hundred steps, the large one fits into the tiles and
 * ends within minutes of a CPU. Others begin with data of their own shapes.
 */
const FIRST_SETTINGS: Record<string, Settings> = {
  'zoo:mnist': { dataset: 'digits', optimiser: 'momentum', learning_rate: 0.05 },
  'zoo:resnet50': { batch: 4, steps: 3, precision: 'fp16', partials: 'fp16' },
};

/** The form with another model; settings that belong to the former one go. */
export function withModel(form: LaunchForm, model: string | null): LaunchForm {
  const { dataset, optimiser, learning_rate } = initialForm.config;
  const former = Object.keys(FIRST_SETTINGS[form.model ?? ''] ?? {}) as (keyof Settings)[];
  const restored = Object.fromEntries(former.map((name) => [name, initialForm.config[name]])) as Settings;
  const first = FIRST_SETTINGS[model ?? ''] ?? {};
  const config = { ...form.config, dataset, optimiser, learning_rate, ...restored, ...first, dims: {} };
  return { ...form, model, suite: null, config };
}

/** What the page has to know of the chosen model, wherever it comes from. */
export interface Chosen {
  id: string;
  trainable: boolean;
  /** Sizes that the model leaves open besides the batch. */
  dims: string[];
}

export function chosenModel(id: string | null, models: Model[], zoo: ZooModel[]): Chosen | null {
  const own = models.find((model) => model.id === id);
  if (own) return { id: own.id, trainable: own.summary?.trainable ?? false, dims: own.summary?.symbolic_dims ?? [] };
  const built = zoo.find((model) => model.id === id);
  return built ? { id: built.id, trainable: built.trainable, dims: [] } : null;
}

export interface Place {
  system: string;
  ipus: number;
  reservation?: Reservation;
}

export function placeOf(form: LaunchForm, systems: System[], reservations: Reservation[]): Place | null {
  if (form.where === 'slice') {
    const reservation = reservations.find((each) => each.id === form.reservation);
    return reservation ? { system: reservation.pod.system, ipus: reservation.ipus, reservation } : null;
  }
  const system = systems.find((each) => each.id === form.system);
  if (!system) return null;
  const ipus =
    form.ipus !== null && system.allowed_sizes.includes(form.ipus) ? form.ipus : Math.max(...system.allowed_sizes);
  return { system: system.id, ipus };
}

/** A first value for a size that the model leaves open: large enough for a picture, small enough for a sentence. */
export const FIRST_DIM = 64;

export function estimateRequest(
  form: LaunchForm,
  chosen: Chosen | null,
  place: Place | null,
  project?: string,
): EstimateRequest | null {
  if (!chosen || !place) return null;
  const task = chosen.trainable ? form.config.task : 'infer';
  const dims = Object.fromEntries(chosen.dims.map((name) => [name, form.config.dims[name] ?? FIRST_DIM]));
  return {
    model: chosen.id,
    config: { ...form.config, task, dims, system: place.system, ipus: place.ipus },
    ...(place.reservation ? { reservation_id: place.reservation.id } : {}),
    ...(project ? { project_id: project } : {}),
  };
}

export function jobRequest(form: LaunchForm, estimate: EstimateRequest): JobRequest {
  return {
    ...estimate,
    ...(form.name.trim() ? { name: form.name.trim() } : {}),
    ...(form.suite ? { suite: form.suite } : {}),
  };
}

/** Suites whose rules speak of this model and task. */
export function suitesFor(suites: Suite[], model: string | null, task: RunConfig['task']): Suite[] {
  return suites.filter(
    (suite) => suite.rules.task === task && (suite.rules.model === model || !model?.startsWith('zoo:')),
  );
}

/** The form that a suite's rules ask for: its model, its task and what it fixes. */
export function withSuite(form: LaunchForm, suite: Suite): LaunchForm {
  const fixed = (suite.rules.config ?? {}) as Partial<RunConfig>;
  const task = suite.rules.task === 'infer' ? 'infer' : 'train';
  const { system, ipus, ...config } = fixed;
  const model = form.model ?? suite.rules.model;
  return {
    ...form,
    model,
    suite: suite.slug,
    system: system ?? form.system,
    ipus: ipus ?? form.ipus,
    config: { ...form.config, ...config, task },
  };
}
