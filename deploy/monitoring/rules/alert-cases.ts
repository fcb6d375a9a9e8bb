// All cases: of each alert what it fires on, and what is near.

import type { AlertCase } from './alert-case.js';
import { apartCases } from './apart-cases.js';
import { gatewayCases } from './gateway-cases.js';
import { objectiveCases } from './objective-cases.js';
import { operatorCases } from './operator-cases.js';
import { serviceCases } from './service-cases.js';

export const alertCases: readonly AlertCase[] = [
  ...objectiveCases,
  ...serviceCases,
  ...apartCases,
  ...gatewayCases,
  ...operatorCases,
];
