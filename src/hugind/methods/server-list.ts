// server.list: one row for each config. Nothing that this version starts can be up, so all of them are down.

import type { Handlers } from '../call.js';
import { checkConfig } from '../configs/check-config.js';
import { listConfigs } from '../configs/config-files.js';
import { readYamlText } from '../configs/read-yaml.js';
import { DEFAULTS } from '../configs/schema.js';

export const serverListHandler: Pick<Handlers, 'server.list'> = {
  'server.list': {
    run: async (_, { home }) => {
      const servers = [];
      for (const { name, path } of await listConfigs(home)) {
        const checked = await checkConfig((await readYamlText(path).catch(() => undefined)) ?? '');
        // One that is not valid is still a config: its row tells where it would be by default.
        const server = checked.valid ? checked.config.server : undefined;
        servers.push({
          name,
          host: server?.host ?? DEFAULTS.host,
          port: server?.port ?? DEFAULTS.port,
          status: 'down' as const,
          config_name: name,
        });
      }
      return { servers };
    },
  },
};
