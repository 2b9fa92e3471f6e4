// The parts of ECharts in use. Imported only by charts, which pages load lazily: not part of the first download.
import { LineChart } from 'echarts/charts';
import { GridComponent, TooltipComponent } from 'echarts/components';
import { init, use as register } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

register([LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

export { init };
export type { ECharts, EChartsCoreOption } from 'echarts/core';
