import { describe, expect, it } from 'vitest';
import { fill, preferredLanguage, slots } from './catalogue';
import { en } from './en';
import { zh } from './zh';

// Names and units that stay as they are in Chinese text.
const UNTRANSLATED = new Set(
  'Podium IPU IPU-POD IPU-Machine IPU-M2000 Pod Graphcore ONNX tile tiles V-IPU AMP IPU-Link PopART partials scikit-learn ResNet-50 MNIST SHA-256 IR API CPU MLPerf fp16 fp32 SGD Adam AdamW LAMB URL UTC CI CSV JSON MiB KiB'.split(
    ' ',
  ),
);

describe('catalogues', () => {
  it('have the same keys', () => {
    expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort());
  });

  it('have the same parameters in each text', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[])
      expect([key, slots(zh[key])]).toEqual([key, slots(en[key])]);
  });

  it('have no Chinese in English', () => {
    for (const [key, text] of Object.entries(en))
      expect([key, /[\u3000-\u9fff\uff00-\uffef]/.test(text)]).toEqual([key, false]);
  });

  it('have no English word in Chinese, but for names', () => {
    const leaks = Object.entries(zh).flatMap(([key, text]) =>
      [...text.replace(/\{\w+\}/g, '').matchAll(/[A-Za-z][A-Za-z0-9-]*/g)]
        .map(([word]) => word)
        .filter((word) => !UNTRANSLATED.has(word))
        .map((word) => `${key}: ${word}`),
    );
    expect(leaks).toEqual([]);
  });

  it('have no empty text', () => {
    for (const catalogue of [en, zh])
      for (const [key, text] of Object.entries(catalogue)) expect([key, text.trim()]).not.toEqual([key, '']);
  });
});

describe('fill', () => {
  it('puts parameters in and leaves unknown names visible', () => {
    expect(fill('{a} of {b}', { a: 1 })).toBe('1 of {b}');
  });
});

describe('preferredLanguage', () => {
  it('takes the stored choice, then the browser, then English', () => {
    expect(preferredLanguage('zh-Hans', ['en-GB'])).toBe('zh-Hans');
    expect(preferredLanguage(null, ['fr-FR', 'zh-CN', 'en'])).toBe('zh-Hans');
    expect(preferredLanguage('xx', ['fr'])).toBe('en');
  });
});
