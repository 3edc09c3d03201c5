// The parts of ECharts that the pages use.
import { init, use } from "echarts/core";
import { BarChart, CustomChart, GraphChart, LineChart, ScatterChart } from "echarts/charts";
import {
  AriaComponent, DataZoomInsideComponent, DataZoomSliderComponent, GridComponent, LegendComponent, MarkAreaComponent,
  MarkLineComponent, TooltipComponent,
} from "echarts/components";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, GraphChart, LineChart, ScatterChart, AriaComponent, DataZoomInsideComponent,
  DataZoomSliderComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent,
  CanvasRenderer, SVGRenderer]);

export { init };
