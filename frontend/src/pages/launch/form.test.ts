import { describe, expect, it } from 'vitest';
import type { Model, Reservation, Suite, System, ZooModel } from '~/api/types';
import {
  chosenModel,
  estimateRequest,
  FIRST_DIM,
  initialForm,
  jobRequest,
  placeOf,
  suitesFor,
  withModel,
  withSuite,
} from './form';

const zoo = [{ id: 'zoo:mnist', trainable: true }] as ZooModel[];
const own = {
  id: 'm1',
  state: 'accepted',
  summary: { trainable: false, symbolic_dims: ['length'] },
} as unknown as Model;
const systems = [{ id: 'pod16', allowed_sizes: [1, 2, 4, 8, 16] }] as System[];
const slice = { id: 'r1', ipus: 8, pod: { system: 'pod16' }, state: 'active' } as unknown as Reservation;
const suite = {
  slug: 'infer-latency-mnist',
  rules: { model: 'zoo:mnist', task: 'infer', config: { task: 'infer', batch: 1 } },
} as unknown as Suite;
const form = { ...withModel(initialForm, 'zoo:mnist'), system: 'pod16' };

describe('launch form', () => {
  it('asks nothing before there is a model and a place', () => {
    const chosen = chosenModel('zoo:mnist', [], zoo);
    expect(estimateRequest(form, null, placeOf(form, systems, []))).toBeNull();
    expect(estimateRequest(form, chosen, null)).toBeNull();
  });

  it('takes the whole system on demand, or the size that was chosen', () => {
    expect(placeOf(form, systems, [])).toEqual({ system: 'pod16', ipus: 16 });
    expect(placeOf({ ...form, ipus: 4 }, systems, [])?.ipus).toBe(4);
    expect(placeOf({ ...form, ipus: 3 }, systems, [])?.ipus).toBe(16);
  });

  it('takes system and size from the slice', () => {
    const place = placeOf({ ...form, where: 'slice', reservation: 'r1', system: 'pod4' }, systems, [slice]);
    const request = estimateRequest(form, chosenModel('zoo:mnist', [], zoo), place, 'p1');
    expect(request).toMatchObject({ reservation_id: 'r1', project_id: 'p1', config: { system: 'pod16', ipus: 8 } });
  });

  it('asks for inference of a model that cannot be trained, with a size for each open dimension', () => {
    const request = estimateRequest(form, chosenModel('m1', [own], zoo), placeOf(form, systems, []));
    expect(request?.config).toMatchObject({ task: 'infer', dims: { length: FIRST_DIM } });
  });

  it('begins a built-in model with settings of its own, and leaves them behind with it', () => {
    const large = withModel(withModel(initialForm, 'zoo:mnist'), 'zoo:resnet50');
    expect(large.config).toMatchObject({ dataset: 'synthetic', optimiser: 'sgd', batch: 4, precision: 'fp16' });
    expect(withModel(large, 'm1').config).toEqual(initialForm.config);
  });

  it('publishes only with consent', () => {
    const request = estimateRequest(form, chosenModel('zoo:mnist', [], zoo), placeOf(form, systems, []));
    if (!request) throw new Error('no request');
    expect(jobRequest(form, request)).not.toHaveProperty('suite');
    expect(jobRequest({ ...form, suite: suite.slug, name: ' a ' }, request)).toMatchObject({
      suite: suite.slug,
      name: 'a',
    });
  });

  it('keeps to the rules of a suite', () => {
    const ruled = withSuite({ ...form, config: { ...form.config, batch: 64 } }, suite);
    expect(ruled).toMatchObject({ suite: suite.slug, model: 'zoo:mnist', config: { task: 'infer', batch: 1 } });
    expect(suitesFor([suite], 'zoo:mnist', 'train')).toEqual([]);
    expect(suitesFor([suite], 'zoo:mnist', 'infer')).toEqual([suite]);
    expect(suitesFor([suite], 'zoo:other', 'infer')).toEqual([]);
  });
});
