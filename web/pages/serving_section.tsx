// Where a model answers, and how many replicas of it there are.
import { CheckField, NumberField, Section, SelectField, TextField } from "../parts/form";
import type { WorkloadState } from "./workload_form";

const PROTOCOLS = [
  { value: "http", label: "HTTP" },
  { value: "grpc", label: "gRPC" },
];

export function Serving({
  state: {
    field,
    form: { values: v },
  },
}: {
  state: WorkloadState;
}) {
  const scales = Number(v.most) > Math.max(1, Number(v.least));
  return (
    <Section title="Serving" help="Replicas share what is asked. Each is one pod.">
      <NumberField label="Port" size="third" min={1} max={65535} {...field("serving", "Where it answers")} />
      <SelectField label="Protocol" size="third" {...field("protocol")} options={PROTOCOLS} />
      <CheckField label="Only from inside the cluster" {...field("inside")} />
      <NumberField
        label="Replicas, at least"
        size="third"
        {...field("least", v.least === 0 ? "None while nobody asks" : "Always there")}
      />
      <NumberField label="At most" size="third" min={1} {...field("most")} />
      <NumberField label="At the start" size="third" {...field("initial")} placeholder={`${v.least || 1}`} />
      {(scales || v.metric) && (
        <>
          <TextField
            label="Metric"
            size="half"
            mono
            {...field("metric", "What the replicas' Prometheus page shows")}
            placeholder="vllm:num_requests_running"
          />
          <NumberField label="Wanted of each" size="half" min={1} {...field("threshold", "More adds a replica")} />
        </>
      )}
      {Number(v.least) === 0 && v.least !== "" && (
        <NumberField
          label="Seconds before the last one goes"
          size="half"
          max={3600}
          {...field("retention", "Nobody asked for so long")}
          placeholder="0"
        />
      )}
    </Section>
  );
}
