// The fields of policies as the editor completes them, made from openapi/openapi.yaml when the pages are bundled:
// {roots: {trainings: 3}, table: [{max: "number", options: [7]}]}. A number is a row of the table, a list holds what its items
// are, a text is a type or the words that are allowed.
import { readFile } from "node:fs/promises";
import yaml from "js-yaml";

const KINDS = ["workspaces", "trainings", "distributed", "inferences"];
const LEFT_OUT = ["sourceOfRule", "sourceOfDefaults", "status", "imposedAssets"];

export async function policySchema(path) {
  const document = yaml.load(await readFile(path, "utf8"));
  const table = [],
    known = new Map();
  const resolve = schema =>
    schema.$ref
      ? resolve(
          schema.$ref
            .slice(2)
            .split("/")
            .reduce((o, key) => o[key], document),
        )
      : schema.allOf
        ? { type: "object", properties: Object.assign({}, ...schema.allOf.map(s => resolve(s).properties)) }
        : schema;
  const row = members => {
    const text = JSON.stringify(members);
    if (!known.has(text)) known.set(text, table.push(members) - 1);
    return known.get(text);
  };
  const node = schema => {
    const { type, properties, items, enum: words } = resolve(schema);
    if (type === "array") return [node(items)];
    if (properties)
      return row(
        Object.fromEntries(
          Object.entries(properties)
            .filter(([key]) => !LEFT_OUT.includes(key))
            .map(([key, value]) => [key, node(value)]),
        ),
      );
    return words
      ? words.filter(Boolean).join("|")
      : type === "boolean"
        ? "true|false"
        : type === "string"
          ? "text"
          : "number";
  };
  const policy = kind =>
    resolve(document.paths[`/api/v2/policy/${kind}`].put.requestBody.content["application/json"].schema).properties
      .policy;
  return { roots: Object.fromEntries(KINDS.map(kind => [kind, node(policy(kind))])), table };
}
