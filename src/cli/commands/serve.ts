import { Option } from 'commander'
import { defined } from '../../defined.ts'
import type { CommandContext } from '../shared/console.ts'
import { exportKinds, weightTypes, port, wholeNumber, withSamplingWeights } from '../shared/options.ts'
import { showHelpFor } from '../shared/help.ts'

// Options and help of agoge serve and export.

export function addServe({ program, terminal }: CommandContext): void {
  const serve = withSamplingWeights(program.command('serve'))
    .summary('an endpoint of a model')
    .description('An OpenAI-compatible endpoint in front of a model, until Ctrl-C.')
    .argument('[model]', 'run, checkpoint or model folder (default: the last run, else the base model)')
    .option('--port <n>', '0 takes any that is free', port, 8000)
    .option('--host <address>', 'any other address needs a key', '127.0.0.1')
    .option('--key <key>', 'that clients send (default: variable AGOGE_SERVE_KEY)')
    .option('--name <name>', 'of the model, for clients (default: the name of the folder)')
    .option('--tinker', 'serve the Tinker protocol: clients train the model')
    .option('--store <folder>', 'for checkpoints of --tinker (default: .agoge/tinker)')
    .option('--max-models <n>', 'of --tinker in memory at the same time (default: 8)', wholeNumber(1))
  showHelpFor(serve, {
    all: ['agoge serve .agoge/runs/RUN --port 8000', 'agoge serve --tinker --store checkpoints'],
  })
  serve.action(async (model: string | undefined, options) => {
    if (options.tinker === true) {
      const { runServeTinker } = await import('../llm/serve.ts')
      return runServeTinker({ ...options, ...defined({ model }) }, terminal)
    }
    const { runServe } = await import('../llm/serve.ts')
    await runServe({ ...options, ...defined({ model }) }, terminal)
  })
}

export function addGateway({ program, terminal }: CommandContext): void {
  const gateway = program
    .command('gateway')
    .summary('record any agent')
    .description(
      'A proxy between agents and models, until Ctrl-C. It speaks Chat Completions, Responses and Messages; each session of an agent becomes an episode.',
    )
    .option('--model <model...>', 'run, checkpoint or model folder: asked by the name of its folder')
    .option('--upstream <url>', 'a service that gets all other requests as they are')
    .option('-c, --config <file>', 'the models and the score of an agoge.config.ts')
    .option('--port <n>', '0 takes any that is free', port, 8787)
    .option('--host <address>', 'any other address needs a key', '127.0.0.1')
    .option('--key <key>', 'that clients send (default: variable AGOGE_SERVE_KEY)')
    .option('--out <folder>', 'for episodes.jsonl (default: a new one in .agoge/gateway)')
    .option('--idle <seconds>', 'after which a session without calls ends', wholeNumber(1), 600)
    .option('--token-ids', 'ask the upstream for token ids: vLLM, SGLang, Agoge')
  showHelpFor(gateway, {
    all: ['agoge gateway --upstream https://api.openai.com/v1', 'agoge gateway --model .agoge/runs/RUN'],
  })
  gateway.action(async (options) => {
    const { runGateway } = await import('../llm/gateway.ts')
    await runGateway(options, terminal)
  })
}

export function addExport({ program, terminal }: CommandContext): void {
  const exported = program
    .command('export')
    .summary('weights and data sets')
    .description(
      'Write the trained model as a checkpoint or ONNX file, or the episodes of a run as a data set or as traces.',
    )
    .argument('[run]', 'run folder, checkpoint, or file of episodes (default: the last run)')
    .addOption(
      new Option(
        '--to <what>',
        'merged: a checkpoint; lora: an adapter as PEFT reads it; onnx: one file; sft, dpo, grpo: data sets as TRL reads them; otel: traces of the episodes (OTLP/JSON)',
      )
        .choices(exportKinds)
        .makeOptionMandatory(),
    )
    .requiredOption('--out <path>', 'a new folder (merged, lora), FILE.onnx, FILE.jsonl or FILE.parquet')
    .addOption(new Option('--type <type>', 'of the weights (merged, lora)').choices(weightTypes))
    .option('--base <name>', 'base model of an adapter, as PEFT finds it (default: the one of the run)')
    .option('--content', 'with otel: the messages too, not only names, counts and scores')
    .option('--tools <file>', 'JSON list of tools in the format of OpenAI, for the column `tools`')
  showHelpFor(exported, {
    all: [
      'agoge export --to merged --out models/mine',
      'agoge export .agoge/runs/RUN --to sft --out sft.jsonl',
    ],
  })
  exported.action(async (from: string | undefined, options) => {
    const { runExport } = await import('../llm/export.ts')
    await runExport({ ...options, ...defined({ from }) }, terminal)
  })
}
