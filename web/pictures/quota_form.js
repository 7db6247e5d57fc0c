// The quota form's rows -> the API's resources, what changes, and how a pool's GPUs are divided. Pure.

// A row per pool from what exists (or nothing): {id, name, quota, weight, rank, limit}; limit "" is none.
export function rowsOf(pools, resources, defaultRank) {
  return pools.map(pool => {
    const r = (resources ?? []).find(o => o.nodePool?.id === pool.id || o.nodePool?.name === pool.name);
    const limit = r?.gpu?.limit;
    return { id: pool.id, name: pool.name, quota: r?.gpu?.deserved ?? 0, weight: r?.gpu?.overQuotaWeight ?? 2, rank: r?.priority ?? r?.rank ?? defaultRank, limit: limit === null || limit === undefined || limit < 0 ? "" : limit };
  });
}

// The rows as an address fills them: ?pool=h100&quota=12&limit=16, the way out of an explanation.
export function withAddress(rows, { pool, quota, limit }) {
  const fill = value => value === "null" ? "" : value;
  return rows.map(r => r.name !== pool ? r : { ...r, ...(quota === undefined ? {} : { quota: fill(quota) }), ...(limit === undefined ? {} : { limit: fill(limit) }) });
}

const isAmount = value => value !== "" && Number.isFinite(Number(value)) && Number(value) >= 0;

export function checkRows(rows) {
  const wrong = {};
  for (const r of rows) {
    if (!isAmount(r.quota)) wrong[`quota-${r.id}`] = "A number from 0.";
    if (!isAmount(r.weight)) wrong[`weight-${r.id}`] = "A number from 0.";
    if (r.limit !== "" && !isAmount(r.limit)) wrong[`limit-${r.id}`] = "A number, or nothing for none.";
    else if (r.limit !== "" && isAmount(r.quota) && Number(r.limit) < Number(r.quota)) wrong[`limit-${r.id}`] = `At least the quota of ${r.quota}.`;
  }
  return wrong;
}

// CPU and memory stay as they are; a new unit gets them unlimited.
export function resourcesOf(rows, before) {
  return rows.map(r => {
    const old = (before ?? []).find(o => o.nodePool?.id === r.id);
    return { nodePool: { id: r.id, name: r.name }, gpu: { deserved: Number(r.quota), limit: r.limit === "" ? null : Number(r.limit), overQuotaWeight: Number(r.weight) }, cpu: old?.cpu ?? { deserved: null, limit: null, overQuotaWeight: 1 }, memory: old?.memory ?? { deserved: null, limit: null, overQuotaWeight: 1, units: "MB" }, priority: r.rank };
  });
}

// "h100: 8 → 12, limit none → 16": what a save would change.
export function changes(before, after) {
  return after.flatMap((row, i) => {
    const old = before[i], parts = [];
    if (Number(old.quota) !== Number(row.quota)) parts.push(`${old.quota} → ${row.quota}`);
    if (Number(old.weight) !== Number(row.weight)) parts.push(`weight ${old.weight} → ${row.weight}`);
    if (old.rank !== row.rank) parts.push(`rank ${old.rank} → ${row.rank}`);
    if (String(old.limit) !== String(row.limit)) parts.push(`limit ${old.limit === "" ? "none" : old.limit} → ${row.limit === "" ? "none" : row.limit}`);
    return parts.length ? [`${row.name}: ${parts.join(", ")}`] : [];
  });
}

// One pool: this unit, the others, what is left of `total`; over is what is promised beyond it.
export function division(total, others, mine) {
  const given = others + mine;
  return { total, others, mine, free: Math.max(0, total - given), over: Math.max(0, given - total), top: Math.max(total, given, 1) };
}
