import { screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Problem } from '~/api/problem';
import { show } from '~/testing/render';
import { ProblemNotice } from './ProblemNotice';

const overlap = new Problem({
  status: 422,
  code: 'reservation.size_not_allowed',
  detail: 'A slice of 3 IPUs cannot be made.',
  params: { allowed_sizes: [1, 2, 4] },
});

describe('ProblemNotice', () => {
  it('shows the sentence of the portal in English', () => {
    show(<ProblemNotice problem={overlap} />);
    expect(screen.getByRole('alert').textContent).toContain('A slice of 3 IPUs cannot be made.');
  });

  it('shows its own sentence for a known code in Chinese, with the parameters', () => {
    show(<ProblemNotice problem={overlap} />, 'zh-Hans');
    expect(screen.getByRole('alert').textContent).toContain('可选数量：1, 2, 4');
    expect(screen.getByRole('alert').textContent).not.toContain('slice');
  });

  it('falls back to the portal for a code it does not know', () => {
    show(<ProblemNotice problem={new Problem({ status: 400, code: 'x.new', detail: 'Something new.' })} />, 'zh-Hans');
    expect(screen.getByRole('alert').textContent).toContain('Something new.');
  });

  it('names the request of a fault of ours', () => {
    show(<ProblemNotice problem={new Problem({ status: 500, code: 'internal', request_id: 'r-1' })} />);
    expect(screen.getByRole('alert').textContent).toContain('Request r-1');
  });

  it('is absent without a problem', () => {
    const { container } = show(<ProblemNotice problem={null} />);
    expect(container.querySelector('[role=alert]')).toBeNull();
  });

  it('leads somebody whose session has ended to the sign-in, beside the page so that what they filled in stays', () => {
    show(<ProblemNotice problem={new Problem({ status: 401, code: 'auth.required' })} />);
    const link = screen.getByRole('link');
    expect(link.getAttribute('href')).toBe('/login');
    expect(link.getAttribute('target')).toBe('_blank');
  });
});
