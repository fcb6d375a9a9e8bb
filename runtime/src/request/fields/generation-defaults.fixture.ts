// Defaults of a server that is set to nothing, with a checkpoint that says nothing.

import { compatibilities } from '../compatibility.js';
import { checkpointDefaults, generationDefaults, type ServerDefaults } from './generation-defaults.js';

export const noServerDefaults: ServerDefaults = {
  thinks: null,
  sampling: { thinking: {}, plain: {} },
  compatibility: compatibilities.none,
  takesTemplates: false,
};

export const noDefaults = generationDefaults(checkpointDefaults(null, {}), noServerDefaults, true);
