// What config.* does.

import type { Handlers } from '../call.js';
import { checkConfig } from '../configs/check-config.js';
import { listConfigs, readConfigText, removeConfig } from '../configs/config-files.js';
import { initConfig } from '../configs/init-config.js';
import { lookAtMachine } from '../configs/machine.js';
import { maskSettings, readSettings, writeSetting } from '../configs/settings-file.js';
import { HugindError } from '../errors.js';

const CONFIGS = 'configs';
const SETTINGS = 'settings';

type ConfigMethods = Pick<Handlers, Extract<keyof Handlers, `config.${string}`>>;

export const configHandlers: ConfigMethods = {
  'config.list': {
    claims: () => [{ key: CONFIGS, alone: false }],
    run: async (_, { home }) => ({ configs: await listConfigs(home) }),
  },
  'config.validate': {
    run: async ({ path }, { home }) => {
      const { text } = await readConfigText(home, path);
      const checked = await checkConfig(text);
      if (!checked.valid) return { valid: false, errors: [...checked.errors] };
      return { valid: true, ...(checked.warnings.length > 0 && { warnings: [...checked.warnings] }) };
    },
  },
  'config.info': {
    run: async (_, { home }) => {
      const { os, arch, cpuModel, logicalCores, physicalCores, memoryBytes, disk, gpus } =
        await lookAtMachine(home.root);
      return {
        os,
        arch,
        cpu_model: cpuModel,
        logical_cores: logicalCores,
        physical_cores: physicalCores,
        memory_bytes: memoryBytes,
        disk_total_bytes: disk.totalBytes,
        disk_available_bytes: disk.availableBytes,
        gpus: [...gpus],
      };
    },
  },
  'config.remove': {
    claims: () => [{ key: CONFIGS, alone: true }],
    run: async ({ name, confirm }, { home }) => {
      if (!confirm) throw new HugindError('not_confirmed', 'Removal not confirmed: give confirm: true');
      const path = await removeConfig(home, name);
      return { removed: path !== undefined, path: path ?? null };
    },
  },
  'config.defaults': {
    claims: () => [{ key: SETTINGS, alone: true }],
    run: async ({ hf_token: token }, { home }) => {
      if (token !== undefined) await writeSetting(home.settings, 'hf_token', token);
      return { settings: maskSettings(await readSettings(home.settings)) };
    },
  },
  'config.init': {
    claims: () => [{ key: CONFIGS, alone: true }],
    run: async (params, { home }) => await initConfig(home, params),
  },
};
