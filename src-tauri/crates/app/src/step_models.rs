//! The models that a step of a plan may name: those of every account that can be asked (models page, "Providers").
//!
//! Deliberately not here: which of them a plan is made to use. A person sees a step's model with the plan, and approves it.

use contract::AppError;
use contract::run::RunHeader;
use providers::info::KeyNeed;

use crate::accounts;
use crate::app::App;
use crate::catalog::ProviderModels;
use crate::model_catalog::ModelCatalog;

/// At most so many of one account.
const MOST: usize = 64;

impl App {
    /// Those beside the models of the run's roles, what is proposed first. With a limit of money only those whose price
    /// is known, since it could not be kept with the others.
    pub(crate) async fn step_models(
        &self,
        header: &RunHeader,
        catalog: &ModelCatalog,
    ) -> Result<Vec<String>, AppError> {
        if header.recording.is_some() || header.flow.is_some() {
            return Ok(Vec::new());
        }
        let accounts = self.known_models().await?;
        let usable: Vec<&ProviderModels> = accounts.iter().filter(|account| can_be_asked(account)).collect();
        let proposed = usable
            .iter()
            .flat_map(|account| named(account, account.chosen.iter().chain(&account.recommended)));
        let listed = usable
            .iter()
            .flat_map(|account| named(account, account.models.iter().take(MOST).map(|model| &model.id)));
        let mut models: Vec<String> = Vec::new();
        for model in proposed.chain(listed) {
            let is_priced = header.task.limits.max_cost.is_none() || catalog.price(&model).is_some();
            if is_priced && !models.contains(&model) {
                models.push(model);
            }
        }
        Ok(models)
    }
}

/// Whether somebody said where it is, and its key is there where it needs one.
fn can_be_asked(account: &ProviderModels) -> bool {
    let needs_key = accounts::kind(&account.kind).is_some_and(|kind| kind.info.key == KeyNeed::Required);
    account.base_url.is_some() && (account.key.is_some() || !needs_key)
}

fn named<'a>(
    account: &'a ProviderModels,
    models: impl Iterator<Item = &'a String> + 'a,
) -> impl Iterator<Item = String> + 'a {
    models
        .filter(|model| !model.trim().is_empty())
        .map(|model| format!("{}:{model}", account.provider))
}
