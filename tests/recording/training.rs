//! The cost of a training step: one program, one commit, at most one wait, and no growing memory.

use std::sync::{Arc, Mutex};

use burn::backend::Autodiff;
use burn::data::dataloader::batcher::Batcher;
use burn::data::dataloader::{DataLoader, DataLoaderBuilder};
use burn::data::dataset::InMemDataset;
use burn::optim::{AdamConfig, GradientsParams, LBFGSConfig};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{ElementConversion, Int, Tensor, TensorData};
use burn::train::metric::{AccuracyMetric, LossMetric, MetricDefinition};
use burn::train::renderer::{
    EvaluationName, EvaluationProgress, MetricState, MetricsRenderer, MetricsRendererEvaluation,
    MetricsRendererTraining, ProgressType, TrainingProgress,
};
use burn::train::{ClassificationOutput, InferenceStep, Learner, SupervisedTraining, TrainOutput, TrainStep};

use super::mlp::{FEATURES, Mlp, Trainer, items};
use super::{B, Turn};
use burn_mpsgraph::{MpsGraphDevice, Stats};

#[test]
fn a_hand_written_step_is_one_execution_one_commit_one_read() {
    let mut turn = Turn::take();
    let mut trainer = Trainer::adam();
    for _ in 0..3 {
        trainer.step_and_read();
    }
    turn.restart();
    for _ in 0..20 {
        assert!(trainer.step_and_read().is_finite());
    }
    let used = turn.used();
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert_eq!((used.executions, used.commits, used.host_reads), (20, 20, 20), "{used:?}");
    assert!(used.waits <= 20, "{used:?}");
}

/// What it does with its history is recorded anew for each length of that, up to the longest.
#[test]
fn l_bfgs_compiles_nothing_once_its_history_is_full() {
    type A = Autodiff<B>;
    let mut turn = Turn::take();
    let (features, labels) = items(0, 64);
    let features = Tensor::<A, 1>::from_data(features.as_slice(), &MpsGraphDevice).reshape([64, FEATURES]);
    let labels = Tensor::<A, 1, Int>::from_data(labels.as_slice(), &MpsGraphDevice);
    let mut optimizer = LBFGSConfig::new().with_history_size(3).with_max_iter(4).init::<A>();
    let mut model = Mlp::new(&MpsGraphDevice);
    let mut step = || {
        let (trained, loss) = optimizer.step(0.1, model.clone(), |model: Mlp<A>| {
            let loss = model.loss(features.clone(), labels.clone());
            let gradients = GradientsParams::from_grads(loss.backward(), &model);
            (loss.into_scalar().elem(), gradients)
        });
        model = trained;
        loss
    };
    let first = step();
    (0..2).for_each(|_| _ = step());
    turn.restart();
    let last = (0..5).map(|_| step()).last().expect("five steps");
    let used = turn.used();
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert!(last < first, "{last} after {first}");
}

/// What `look` finds after each of ten epochs.
fn levels<T>(look: impl Fn() -> T) -> Vec<T> {
    let mut trainer = Trainer::adam();
    let epoch = |_| {
        for _ in 0..10 {
            trainer.step_and_read();
        }
        look()
    };
    (0..10).map(epoch).collect()
}

#[test]
fn training_holds_the_same_memory_after_epoch_two_and_ten() {
    let _turn = Turn::take();
    let levels = levels(|| {
        let stats = MpsGraphDevice.stats();
        (stats.buffers_live, stats.bytes_live, stats.buffers_cached, stats.programs_cached)
    });
    assert_eq!(levels[1], levels[9], "{levels:?}");
}

#[cfg(soft_runtime)] // the software runtime counts its objects
#[test]
fn training_holds_the_same_objects_after_epoch_two_and_ten() {
    let _turn = Turn::take();
    let levels = levels(|| {
        MpsGraphDevice.sync().expect("the device works");
        objects_without_command_buffers()
    });
    assert_eq!(levels[1], levels[9]);
}

/// The software runtime's objects once the last command buffer is gone: one lives until its handlers have been called,
/// which may be a little after its work has ended.
#[cfg(soft_runtime)]
pub fn objects_without_command_buffers() -> std::collections::BTreeMap<&'static str, usize> {
    for _ in 0..10_000 {
        let objects = mpsgraph_soft::stats::live_objects();
        if !objects.contains_key("MTLCommandBuffer") {
            return objects;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("a command buffer stays");
}

impl TrainStep for Mlp<Autodiff<B>> {
    type Input = Batch<Autodiff<B>>;
    type Output = ClassificationOutput<Autodiff<B>>;

    fn step(&self, batch: Self::Input) -> TrainOutput<Self::Output> {
        let item = classify(self, batch);
        TrainOutput::new(self, item.loss.backward(), item)
    }
}

impl InferenceStep for Mlp<B> {
    type Input = Batch<B>;
    type Output = ClassificationOutput<B>;

    fn step(&self, batch: Self::Input) -> Self::Output {
        classify(self, batch)
    }
}

fn classify<B: Backend>(model: &Mlp<B>, batch: Batch<B>) -> ClassificationOutput<B> {
    let output = model.forward(batch.features);
    let loss = burn::nn::loss::CrossEntropyLossConfig::new()
        .init(&output.device())
        .forward(output.clone(), batch.labels.clone());
    ClassificationOutput::new(loss, output, batch.labels)
}

#[derive(Clone, Debug)]
pub struct Batch<B: Backend> {
    features: Tensor<B, 2>,
    labels: Tensor<B, 1, Int>,
}

/// Makes batches; `scaled` records an op on the loader's thread.
#[derive(Clone)]
struct Batches {
    scaled: bool,
}

impl<B: Backend> Batcher<B, usize, Batch<B>> for Batches {
    fn batch(&self, rows: Vec<usize>, device: &B::Device) -> Batch<B> {
        let (features, labels): (Vec<_>, Vec<_>) = rows.iter().map(|&row| items(row, 1)).unzip();
        let features = TensorData::new(features.concat(), [rows.len(), FEATURES]);
        let features = Tensor::from_data(features, device);
        Batch {
            features: if self.scaled { features * 0.5 } else { features },
            labels: Tensor::from_data(TensorData::new(labels.concat(), [rows.len()]), device),
        }
    }
}

/// Notes the counters at the end of each epoch.
struct Watcher(Arc<Mutex<Vec<Stats>>>);

impl MetricsRendererTraining for Watcher {
    fn update_train(&mut self, _state: MetricState) {}
    fn update_valid(&mut self, _state: MetricState) {}
    fn render_train(&mut self, _item: TrainingProgress, _indicators: Vec<ProgressType>) {}
    fn render_valid(&mut self, item: TrainingProgress, _indicators: Vec<ProgressType>) {
        if item.progress.is_some_and(|progress| progress.items_processed == progress.items_total) {
            self.0.lock().expect("no panic").push(MpsGraphDevice.stats());
        }
    }
}

impl MetricsRendererEvaluation for Watcher {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
    fn render_test(&mut self, _item: EvaluationProgress, _indicators: Vec<ProgressType>) {}
}

impl MetricsRenderer for Watcher {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

const BATCH: usize = 8;
const TRAIN: usize = 80;
const TEST: usize = 40;

fn loader<B: Backend>(rows: std::ops::Range<usize>, scaled: bool) -> Arc<dyn DataLoader<B, Batch<B>>> {
    let rows = InMemDataset::new(rows.collect());
    DataLoaderBuilder::new(Batches { scaled }).batch_size(BATCH).shuffle(3).num_workers(2).build(rows)
}

fn train_under_burn_train<AB>(scaled: bool, epochs: usize) -> Vec<Stats>
where
    AB: AutodiffBackend<InnerBackend = B, Device = MpsGraphDevice>,
    Mlp<AB>: TrainStep<Input = Batch<AB>, Output = ClassificationOutput<AB>>,
{
    let directory = std::env::temp_dir().join(format!("burn-mpsgraph-test-{}-{scaled}", std::process::id()));
    let epochs_seen = Arc::new(Mutex::new(Vec::new()));
    let learner = Learner::new(Mlp::<AB>::new(&MpsGraphDevice), AdamConfig::new().init(), 0.01);
    SupervisedTraining::new(&directory, loader::<AB>(0..TRAIN, scaled), loader::<B>(TRAIN..TRAIN + TEST, scaled))
        .metrics((LossMetric::new(), AccuracyMetric::new()))
        .renderer(Watcher(epochs_seen.clone()))
        .with_application_logger(None)
        .num_epochs(epochs)
        .launch(learner);
    let _ = std::fs::remove_dir_all(directory);
    let seen = epochs_seen.lock().expect("no panic").clone();
    assert_eq!(seen.len(), epochs);
    seen
}

/// Steps of an epoch: each is one commit of the training thread.
const STEPS: u64 = (TRAIN / BATCH + TEST / BATCH) as u64;

#[test]
fn under_burn_train_a_step_is_one_commit_and_one_wait_and_compiles_nothing_after_the_first_epoch() {
    let _turn = Turn::take();
    let seen = train_under_burn_train::<Autodiff<B>>(false, 10);
    let used = seen[9].since(&seen[0]);
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert_eq!((used.commits, used.host_reads), (9 * STEPS, 9 * STEPS), "{used:?}");
    assert!(used.waits <= 9 * STEPS, "{used:?}");
}

#[test]
fn under_burn_train_two_epochs_and_ten_leave_the_same_memory_behind() {
    let _turn = Turn::take();
    let [two, ten] = [2, 10].map(|epochs| {
        train_under_burn_train::<Autodiff<B>>(false, epochs);
        MpsGraphDevice.sync().expect("the device works");
        let stats = MpsGraphDevice.stats();
        (stats.buffers_live, stats.bytes_live)
    });
    assert_eq!(two, ten);
}

#[test]
fn loader_threads_add_at_most_one_program_per_batch() {
    let _turn = Turn::take();
    let seen = train_under_burn_train::<Autodiff<B>>(true, 5);
    let used = seen[4].since(&seen[0]);
    assert_eq!(used.programs_compiled, 0, "{used:?}");
    assert!(used.commits <= 2 * 4 * STEPS, "{used:?}");
}
