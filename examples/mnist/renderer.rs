//! Plain progress: one line per epoch with the means over its batches. Burn's dashboard is a feature (`tui`) that costs
//! 29 more crates.

use std::collections::HashMap;

use burn::train::metric::{MetricDefinition, MetricId, NumericEntry};
use burn::train::renderer::{
    EvaluationName, EvaluationProgress, MetricState, MetricsRenderer, MetricsRendererEvaluation,
    MetricsRendererTraining, ProgressType, TrainingProgress,
};

/// Writes a line after the last batch of an epoch's test digits.
#[derive(Default)]
pub struct PlainRenderer {
    names: HashMap<MetricId, String>,
    train: Means,
    test: Means,
}

/// Sum and weight of each numeric metric, in the order they came.
#[derive(Default)]
struct Means(Vec<(MetricId, f64, f64)>);

impl Means {
    fn add(&mut self, state: MetricState) {
        let MetricState::Numeric(entry, number) = state else {
            return;
        };
        let (value, weight) = match number {
            NumericEntry::Value(value) => (value, 1.0),
            NumericEntry::Aggregated { aggregated_value, count } => (aggregated_value, count as f64),
        };
        match self.0.iter_mut().find(|(id, ..)| *id == entry.metric_id) {
            Some((_, sum, weights)) => {
                *sum += value * weight;
                *weights += weight;
            }
            None => self.0.push((entry.metric_id, value * weight, weight)),
        }
    }

    /// Returns `loss 0.123, accuracy 97.10` and resets the means.
    fn take(&mut self, names: &HashMap<MetricId, String>) -> String {
        let means = self.0.drain(..).map(|(id, sum, weight)| {
            let name = names.get(&id).map_or("metric", String::as_str).to_lowercase();
            format!("{name} {:.4}", sum / weight)
        });
        means.collect::<Vec<_>>().join(", ")
    }
}

impl MetricsRendererTraining for PlainRenderer {
    fn update_train(&mut self, state: MetricState) {
        self.train.add(state);
    }

    fn update_valid(&mut self, state: MetricState) {
        self.test.add(state);
    }

    fn render_train(&mut self, _item: TrainingProgress, _indicators: Vec<ProgressType>) {}

    fn render_valid(&mut self, item: TrainingProgress, _indicators: Vec<ProgressType>) {
        let Some(progress) = item.progress else {
            return;
        };
        if progress.items_processed >= progress.items_total {
            let epoch = item.global_progress;
            println!(
                "epoch {}/{}: train {}; test {}",
                epoch.items_processed,
                epoch.items_total,
                self.train.take(&self.names),
                self.test.take(&self.names)
            );
        }
    }
}

impl MetricsRendererEvaluation for PlainRenderer {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}

    fn render_test(&mut self, _item: EvaluationProgress, _indicators: Vec<ProgressType>) {}
}

impl MetricsRenderer for PlainRenderer {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, definition: MetricDefinition) {
        self.names.insert(definition.metric_id, definition.name);
    }
}
