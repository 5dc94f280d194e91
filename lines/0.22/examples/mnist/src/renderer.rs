//! Plain progress: one line per epoch with the means over its batches. Burn's dashboard is a feature (`tui`) that costs
//! 29 more crates.

use std::collections::HashMap;

use burn::train::logger::{EvaluationProgressLogger, TrainingProgressLogger};
use burn::train::metric::{MetricDefinition, MetricId, NumericEntry};
use burn::train::renderer::{
    EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation, MetricsRendererTraining,
};

/// Writes a line after the last batch of an epoch's test digits.
#[derive(Default)]
pub struct PlainRenderer {
    names: HashMap<MetricId, String>,
    train: Means,
    test: Means,
    epochs: usize,
}

/// Sum and weight of each numeric metric, in the order they came.
#[derive(Default)]
struct Means(Vec<(MetricId, f64, f64)>);

impl Means {
    fn add(&mut self, state: MetricState) {
        let MetricState::Numeric(entry, Some(number)) = state else {
            return;
        };
        let (value, weight) = match number {
            NumericEntry::Value(value) => (value, 1.0),
            NumericEntry::Aggregated { aggregated_value, count } => (aggregated_value, count as f64),
            // The mean of the others.
            NumericEntry::Final(_) => return,
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
}

impl TrainingProgressLogger for PlainRenderer {
    fn start(&mut self, epochs: usize, _starting_epoch: usize, _items: Option<usize>, _label: Option<&str>) {
        self.epochs = epochs;
    }

    fn update_epoch(&mut self, epoch: usize) {
        let [train, test] = [&mut self.train, &mut self.test].map(|means| means.take(&self.names));
        println!("epoch {epoch}/{}: train {train}; test {test}", self.epochs);
    }

    fn start_split(&mut self, _split: &str, _items: usize) {}

    fn update_split(&mut self, _items_processed: usize) {}

    fn end_split(&mut self) {}

    fn end(&mut self) {}

    fn log_event_training(&mut self, _event: String) {}
}

impl EvaluationProgressLogger for PlainRenderer {
    fn start_global_progress(&mut self, _tests: usize) {}

    fn start_test(&mut self, _name: &str, _items: usize) {}

    fn update_test_progress(&mut self, _items_processed: usize) {}

    fn end_test(&mut self) {}

    fn end_global_progress(&mut self) {}

    fn log_event_evaluation(&mut self, _event: String) {}
}

impl MetricsRendererEvaluation for PlainRenderer {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl MetricsRenderer for PlainRenderer {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, definition: MetricDefinition) {
        self.names.insert(definition.metric_id, definition.name.to_string());
    }
}
