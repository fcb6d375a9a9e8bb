// What the chart installs as ConfigMaps that Grafana's sidecar finds.

import { cost } from './cost.js';
import { engine } from './engine.js';
import { fleet } from './fleet.js';
import { operator } from './operator.js';
import type { BuiltDashboard } from './panels.js';
import { service } from './service.js';

export const dashboards: readonly BuiltDashboard[] = [fleet, service, engine, operator, cost];
