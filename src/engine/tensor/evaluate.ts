import { bindSizes } from './bindings.ts'
import { dimValue } from './shape.ts'
import { type Feeds, type HostTensor, type Tensor, topologicalOrder, type Value } from './node.ts'
import { inputOperator } from './operators/constant.ts'

/** Reference values of nodes in double precision. */
export function evaluateNodes(outputs: readonly Tensor[], feeds: Feeds): Value[] {
  const order = topologicalOrder(outputs)
  const inputs = order.filter((node) => node.op === inputOperator)
  const bindings = bindSizes(
    inputs.map((node) => ({ name: node.attributes.name as string, shape: node.shape, dtype: node.dtype })),
    feeds,
  )
  const values = new Map<Tensor, Value>()
  for (const node of order) {
    if (node.op === inputOperator) {
      const { data, shape } = feeds[node.attributes.name as string]
      values.set(node, { data: data instanceof Float32Array ? Float64Array.from(data) : data, shape })
      continue
    }
    const shape = node.shape.map((dim) => dimValue(dim, bindings))
    const own = node.inputs.map((input) => values.get(input)!)
    values.set(node, node.op.evaluate(node, own, shape, bindings))
  }
  return outputs.map((node) => values.get(node)!)
}

/**
 * Evaluates tensors in plain TypeScript and double precision. Slow; used as the reference for the runtimes.
 *
 * @param outputs tensors by name
 * @param feeds values of the inputs by name
 */
export function evaluateTensors(
  outputs: Readonly<Record<string, Tensor>>,
  feeds: Feeds,
): Record<string, HostTensor> {
  const names = Object.keys(outputs)
  const values = evaluateNodes(Object.values(outputs), feeds)
  return Object.fromEntries(
    names.map((name, i) => {
      const { data, shape } = values[i]
      const { dtype } = outputs[name]
      return [name, { data: data instanceof Float64Array ? Float32Array.from(data) : data, shape, dtype }]
    }),
  )
}
