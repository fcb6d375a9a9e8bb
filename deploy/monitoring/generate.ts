// Writes alert rules and dashboards into the operator's chart. Run by `npm run generate`.

import { stringify } from 'yaml';
import { writeGenerated } from '../../crds/scripts/write-generated.js';
import { dashboards } from './dashboards/dashboards.js';
import { apartGroups } from './rules/apart-alerts.js';
import { burnRateGroups } from './rules/burn-rates.js';
import { gatewayGroups } from './rules/gateway-alerts.js';
import {
  absentActivatorGroups,
  absentOperatorGroups,
  activatorGroups,
  operatorGroups,
} from './rules/operator-alerts.js';
import type { RuleGroup } from './rules/rule.js';
import { serviceGroups } from './rules/service-alerts.js';

const folder = 'charts/llmservice-operator/monitoring';
const banner = '# Generated from deploy/monitoring by `npm run generate`. Do not edit.\n';

const rules = (groups: readonly RuleGroup[]): string => banner + stringify(groups, { lineWidth: 0 });

await writeGenerated({
  [`${folder}/rules/services.yaml`]: rules([
    ...burnRateGroups,
    ...serviceGroups,
    ...apartGroups,
    ...gatewayGroups,
  ]),
  [`${folder}/rules/operator.yaml`]: rules(operatorGroups),
  [`${folder}/rules/operator-absent.yaml`]: rules(absentOperatorGroups),
  [`${folder}/rules/activator.yaml`]: rules(activatorGroups),
  [`${folder}/rules/activator-absent.yaml`]: rules(absentActivatorGroups),
  ...Object.fromEntries(
    dashboards.map(({ uid = '', ...dashboard }) => [
      `${folder}/dashboards/${uid}.json`,
      `${JSON.stringify({ uid, ...dashboard }, null, 1)}\n`,
    ]),
  ),
});
