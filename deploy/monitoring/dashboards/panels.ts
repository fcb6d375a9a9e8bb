// Panels of one look, by Grafana's foundation SDK: a title that names the question, a unit, queries with their legends.

import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  DashboardLinkBuilder,
  DashboardLinkType,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  VizLegendOptionsBuilder,
  LegendDisplayMode,
  LegendPlacement,
  StackingConfigBuilder,
  StackingMode,
  ReduceDataOptionsBuilder,
  BigValueGraphMode,
} from '@grafana/grafana-foundation-sdk/common';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const prometheus = { type: 'prometheus', uid: '${datasource}' };
const [halfWidth, statWidth, wholeWidth] = [12, 4, 24];
const [panelHeight, statHeight] = [8, 4];

/** Grafana's names: https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts */
type Unit = 'short' | 'reqps' | 's' | 'percentunit' | 'bytes' | 'cps' | 'h' | 'none';

export interface Query {
  readonly expr: string;
  /** Labels as `{{pod}}`. */
  readonly legend: string;
}

export const query = (legend: string, expr: string): Query => ({ expr, legend });

interface PanelChoice {
  readonly description?: string;
  readonly stacked?: boolean;
  readonly max?: number;
}

/** Over time, half as wide as the page. */
export function graph(
  title: string,
  unit: Unit,
  queries: readonly Query[],
  choice: PanelChoice = {},
): Builder<Panel> {
  const { description, stacked = false, max } = choice;
  const panel = new TimeseriesBuilder()
    .title(title)
    .unit(unit)
    .min(0)
    .datasource(prometheus)
    .span(halfWidth)
    .height(panelHeight)
    .fillOpacity(stacked ? 30 : 8)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .targets(queries.map((each, index) => target(each, index).range()));
  if (description !== undefined) panel.description(description);
  if (max !== undefined) panel.max(max);
  return stacked ? panel.stacking(new StackingConfigBuilder().mode(StackingMode.Normal)) : panel;
}

/** One number. */
export function stat(title: string, unit: Unit, expr: string, description?: string): Builder<Panel> {
  const panel = new StatBuilder()
    .title(title)
    .unit(unit)
    .datasource(prometheus)
    .span(statWidth)
    .height(statHeight)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']))
    .targets([target(query('', expr), 0).instant()]);
  return description === undefined ? panel : panel.description(description);
}

/** The labels of each series, and its value. */
export function table(title: string, expr: string, description?: string): Builder<Panel> {
  const hidden = ['Time', '__name__', 'job', 'instance', 'endpoint', 'container', 'prometheus'];
  const panel = new TableBuilder()
    .title(title)
    .datasource(prometheus)
    .span(wholeWidth)
    .height(panelHeight)
    .targets([target(query('', expr), 0).instant().format(PromQueryFormat.Table)])
    .withTransformation({
      id: 'organize',
      options: { excludeByName: Object.fromEntries(hidden.map((name) => [name, true])) },
    });
  return description === undefined ? panel : panel.description(description);
}

function target({ expr, legend }: Query, index: number): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .expr(expr)
    .legendFormat(legend);
}

export interface Section {
  readonly title: string;
  readonly panels: readonly Builder<Panel>[];
}

/** Grafana before 12 reads no newer schema, and Grafana 12 and 13 read this one. */
/* eslint-disable @typescript-eslint/no-deprecated */
const newDashboard = (title: string): DashboardBuilder => new DashboardBuilder(title);
export type BuiltDashboard = ReturnType<DashboardBuilder['build']>;
/* eslint-enable @typescript-eslint/no-deprecated */

/** @param variables name → query of its values; each may be several, or all */
export function dashboard(
  name: string,
  title: string,
  description: string,
  variables: Readonly<Record<string, string>>,
  sections: readonly Section[],
): BuiltDashboard {
  const built = newDashboard(`LlmService / ${title}`)
    .uid(`llmservice-${name}`)
    .description(description)
    .tags(['llmservice'])
    .timezone('browser')
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .link(
      new DashboardLinkBuilder('LlmService')
        .type(DashboardLinkType.Dashboards)
        .tags(['llmservice'])
        .asDropdown(true)
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'));
  for (const [variable, values] of Object.entries(variables)) {
    built.withVariable(
      new QueryVariableBuilder(variable)
        .query(values)
        .datasource(prometheus)
        .multi(true)
        .includeAll(true)
        .allValue('.*')
        .current({ text: 'All', value: '$__all' })
        .refresh(VariableRefresh.OnTimeRangeChanged),
    );
  }
  for (const { title: row, panels } of sections) {
    built.withRow(new RowBuilder(row));
    for (const panel of panels) built.withPanel(panel);
  }
  return built.build();
}
