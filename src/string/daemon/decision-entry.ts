// A decision of a policy as one line of the log of decisions.

import type { AuditEntry } from '../../guard/audit-entry.js';
import type { Decision } from '../agent-policy.js';

export function toEntry(agentId: string, decision: Decision): AuditEntry {
  const { what, topic, allowed, trust, about, why } = decision;
  return {
    method: `policy.${what}`,
    clientName: agentId,
    params: { topic, ...(trust !== undefined && { trust }), ...(about !== undefined && { about }) },
    result: { allowed, ...(why !== undefined && { why }) },
  };
}
