import { fireEvent, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { show } from '~/testing/render';
import { StartField } from './StartField';

describe('the start of a slice', () => {
  it('leaves a year alone while it is typed, and tells the whole one', () => {
    const told = vi.fn();
    show(<StartField start={new Date('2026-11-30T17:00Z')} zone="UTC" onStart={told} />);
    const field = screen.getByLabelText<HTMLInputElement>(/Start/);
    for (const partial of ['0002-12-22T17:00', '0020-12-22T17:00', '0202-12-22T17:00', '']) {
      fireEvent.change(field, { target: { value: partial } });
      expect(field.value).toBe(partial);
    }
    expect(told).not.toHaveBeenCalled();
    fireEvent.change(field, { target: { value: '2026-12-22T17:00' } });
    expect(told).toHaveBeenCalledWith(new Date('2026-12-22T17:00Z'));
  });

  it('shows what will be reserved when it is left half typed', () => {
    show(<StartField start={new Date('2026-11-30T17:00Z')} zone="Asia/Tokyo" onStart={vi.fn()} />);
    const field = screen.getByLabelText<HTMLInputElement>(/Start/);
    fireEvent.change(field, { target: { value: '0202-12-22T17:00' } });
    fireEvent.blur(field);
    expect(field.value).toBe('2026-12-01T02:00');
  });
});
