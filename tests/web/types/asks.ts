// Questions to the server: those below "wrong" name what the API doesn't have, and none of them may pass the compiler.
import { get, post } from "../../../web/api";

export const right = async (id: string) => {
  const overview = await get("/api/v1/overview");
  const pod = (await get(`/api/v1/workloads/${id}/pods`, { limit: 1 })).pods[0];
  const { failed } = await post("/api/v1/workloads/batch", { ids: [id], action: "suspend" });
  return [overview.waiting?.gpusOwed, pod.nodeName, failed?.[0].message];
};

export const wrong = {
  field: async () => (await get("/api/v1/overview")).queued,
  fieldOfRow: async (id: string) => (await get(`/api/v1/workloads/${id}/pods`)).pods[0].host,
  path: () => get("/api/v1/overviews"),
  method: () => post("/api/v1/overview"),
  query: () => get("/api/v1/nodes", { filter: "name==a" }),
  body: () => post("/api/v1/workloads/batch", { ids: [], action: "restart" }),
};
