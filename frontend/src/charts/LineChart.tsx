// Lines over a numeric axis, with both axes named. The page beside it offers the same numbers as a table.
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useFormat, type Format } from '~/format/useFormat';
import { SERIES } from '~/theme/palette';
import { init, type ECharts, type EChartsCoreOption } from './echarts';

export interface Series {
  name: string;
  points: [number, number][];
}

interface Props {
  series: Series[];
  xName: string;
  yName: string;
  height: number;
  /** What the picture shows, for those who do not see it. */
  label: string;
  fromZero?: boolean;
}

type Scheme = 'light' | 'dark';

export function LineChart({ series, xName, yName, height, label, fromZero = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  const scheme = useComputedColorScheme('light');
  const format = useFormat();
  useEffect(() => {
    if (!box.current) return;
    const made = init(box.current, undefined, { renderer: 'canvas' });
    chart.current = made;
    const watcher = new ResizeObserver(() => made.resize());
    watcher.observe(box.current);
    return () => {
      watcher.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    chart.current?.setOption(options(series, xName, yName, scheme, format, fromZero));
  }, [series, xName, yName, scheme, format, fromZero]);
  return <div ref={box} role="img" aria-label={label} style={{ height, width: '100%' }} />;
}

function options(
  series: Series[],
  xName: string,
  yName: string,
  scheme: Scheme,
  format: Format,
  fromZero: boolean,
): EChartsCoreOption {
  const ink = scheme === 'dark' ? '#9fb0ab' : '#5a625c';
  const rule = scheme === 'dark' ? '#2f3d3a' : '#e6e5dd';
  const axis = {
    type: 'value',
    nameLocation: 'middle',
    nameTextStyle: { color: ink, fontSize: 12 },
    axisLabel: { color: ink, fontSize: 11, formatter: format.mark, hideOverlap: true },
    splitLine: { lineStyle: { color: rule } },
    axisLine: { show: false },
  };
  return {
    animation: false,
    color: [...SERIES[scheme]],
    grid: { left: 62, right: 16, top: 12, bottom: 44 },
    tooltip: { trigger: 'axis', valueFormatter: (value: unknown) => format.mark(Number(value)) },
    xAxis: { ...axis, name: xName, nameGap: 28, min: 'dataMin', max: 'dataMax', splitLine: { show: false } },
    yAxis: { ...axis, name: yName, nameGap: 48, scale: !fromZero },
    series: series.map((each) => ({
      type: 'line',
      name: each.name,
      data: each.points,
      showSymbol: each.points.length < 3,
      sampling: 'lttb',
      lineStyle: { width: 2 },
    })),
  };
}
