//! What a person allowed for every run of a task: kept when they say so, given to its next runs, listed and revoked.
//!
//! A task is the same task when it says the same in the same folder: what a person allowed, they allowed for what they
//! were shown. Its name and its limits may differ, and when its plans are asked about, which a run may be told anew. A flow
//! is the same with the same steps, and those of every flow that it names. What a server may do is bound to how that server
//! is started besides, and goes with it. What a person allowed for one run lies in that run's journal and nowhere else.

use contract::access::{Access, Envelope};
use contract::flow::{Flow, FlowRun};
use contract::hash::Hash;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::files::Files;
use contract::run::RunHeader;
use contract::task::Task;
use contract::task_effect::{AskedEffect, TaskEffect};
use contract::{AppError, RunId};
use engine::effects;
use mcp::Launch;
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::NewGrant;

use crate::app::App;
use crate::error::{ToAppError, internal};
use crate::new_run::rules_asked;
use crate::servers;
use crate::world;

/// By what a task's grants are kept.
fn identity(header: &RunHeader) -> Result<Hash, AppError> {
    identity_of(&header.envelope.folder, &header.task, header.flow.as_deref())
}

fn identity_of(folder: &str, task: &Task, flow: Option<&FlowRun>) -> Result<Hash, AppError> {
    let flow = match flow {
        Some(run) => {
            let named: Result<Map<String, Value>, AppError> = run
                .refs
                .iter()
                .map(|(id, flow)| Ok((id.clone(), steps_of(flow)?)))
                .collect();
            json!({ "flow": steps_of(&run.flow)?, "refs": named? })
        }
        None => Value::Null,
    };
    // The folder that it asks for is not the one that it was given.
    let task = without(task, &["name", "limits", "approval", "workingFolder"])?;
    hash_of(&json!({ "folder": folder, "task": task, "flow": flow }))
}

fn steps_of(flow: &Flow) -> Result<Value, AppError> {
    without(flow, &["name", "version", "description", "limits"])
}

/// By what is kept what a server may do for a task.
fn identity_with(task: &Hash, server: &str, launch: &Launch) -> Result<Hash, AppError> {
    hash_of(&json!({ "task": task, "server": server, "launch": launch }))
}

fn without(whole: &impl Serialize, fields: &[&str]) -> Result<Value, AppError> {
    let mut value = serde_json::to_value(whole).map_err(|error| internal(error.to_string()))?;
    if let Value::Object(all) = &mut value {
        for field in fields {
            all.remove(*field);
        }
    }
    Ok(value)
}

fn hash_of(value: &Value) -> Result<Hash, AppError> {
    Hash::of_value(value).map_err(|error| internal(error.to_string()))
}

impl App {
    /// The envelope with what was allowed for this task before.
    pub(crate) async fn with_kept_grants(&self, header: &RunHeader) -> Result<Envelope, AppError> {
        let task = identity(header)?;
        let mut kept = self.kept_for(&task).await?;
        // From before servers were told apart by how they are started.
        kept.retain(|access| !matches!(access, Access::Server { .. }));
        for server in servers::read(&self.rooms.store).await? {
            let identity = identity_with(&task, &server.config.name, &server.config.launch)?;
            let of_it =
                |access: &Access| matches!(access, Access::Server { server: name, .. } if *name == server.config.name);
            kept.extend(self.kept_for(&identity).await?.into_iter().filter(of_it));
        }
        Ok(Envelope {
            kept,
            ..header.envelope.clone()
        })
    }

    async fn kept_for(&self, identity: &Hash) -> Result<Vec<Access>, AppError> {
        let kept = self.rooms.store.grants().of(identity).await;
        kept.map_err(ToAppError::to_app_error)
    }

    /// Takes back everything that a server may do, for all tasks.
    pub(crate) async fn revoke_server(&self, name: &str) -> Result<(), AppError> {
        let grants = self.rooms.store.grants();
        for grant in grants.all().await.map_err(ToAppError::to_app_error)? {
            if matches!(&grant.access, Access::Server { server, .. } if server == name) {
                grants.revoke(grant.id).await.map_err(ToAppError::to_app_error)?;
            }
        }
        Ok(())
    }

    /// What a task would have the app do by itself, and what of it a person allowed for this task in this folder.
    pub async fn effects_of(&self, task: &Task, folder: Option<&str>) -> Result<Vec<AskedEffect>, AppError> {
        let rules = rules_asked(task);
        if effects::of(&rules, task, &self.rooms.checks).is_empty() {
            return Ok(Vec::new());
        }
        // Nothing was allowed in a folder that is not there.
        let folder = match folder {
            Some(folder) => world::folder(folder).await.ok(),
            None => None,
        };
        let kept = match folder {
            Some(folder) => {
                let task = identity_of(folder.root(), task, None)?;
                self.kept_for(&task).await?
            }
            None => Vec::new(),
        };
        let is_kept = |effect: &TaskEffect, _: &Hash| {
            let same = |access: &Access| matches!(access, Access::TaskEffect { effect: kept } if kept == effect);
            kept.iter().any(same)
        };
        Ok(effects::asked(&rules, task, &self.rooms.checks, is_kept))
    }

    /// Keeps what a person allowed with this answer, if it is for every run of the task.
    pub async fn keep_if_for_task(&self, run: &RunId, ask: &Ask, answer: &Answer) -> Result<(), AppError> {
        let Answer::Allow {
            scope: AllowedFor::Task,
        } = answer
        else {
            return Ok(());
        };
        match ask {
            Ask::Permission { access, .. } => self.grant_for_task(run, access).await,
            Ask::AllowEffect { effect, .. } => {
                let effect = effect.clone();
                self.grant_for_task(run, &[Access::TaskEffect { effect }]).await
            }
            Ask::ApprovePlan { .. } | Ask::UncertainEffect { .. } | Ask::Gate { .. } | Ask::RunStep { .. } => Ok(()),
        }
    }

    /// Keeps what a person allowed for every run of the task that this is a run of.
    pub async fn grant_for_task(&self, run: &RunId, allowed: &[Access]) -> Result<(), AppError> {
        let header = self.header_of(run).await?;
        let task = identity(&header)?;
        let servers = servers::read(&self.rooms.store).await?;
        let mut grants = Vec::new();
        for access in allowed {
            let task = match access {
                Access::Server { server, .. } => match servers.iter().find(|kept| kept.config.name == *server) {
                    Some(kept) => identity_with(&task, server, &kept.config.launch)?,
                    // It was removed while it was asked about: the next one of its name is another one.
                    None => continue,
                },
                _ => task.clone(),
            };
            grants.push(NewGrant {
                task,
                title: header.title.clone(),
                folder: header.envelope.folder.clone(),
                access: access.clone(),
            });
        }
        let kept = self.rooms.store.grants();
        kept.add(grants, self.rooms.clock.now_ms())
            .await
            .map_err(ToAppError::to_app_error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(change: Value) -> Task {
        let mut task = json!({
            "goal": "Report.", "context": { "month": "May" }, "tools": ["file_write"],
            "expectedOutput": [{ "path": "a.md", "description": "The report." }],
        });
        let (Value::Object(fields), Value::Object(change)) = (&mut task, change) else {
            panic!("an object")
        };
        fields.extend(change);
        serde_json::from_value(task).unwrap()
    }

    fn flow(change: Value, named: Value) -> FlowRun {
        let mut flow = json!({ "id": "f", "steps": [{ "id": "a", "tool": { "tool": "file_read", "args": {} } }] });
        let (Value::Object(fields), Value::Object(change)) = (&mut flow, change) else {
            panic!("an object")
        };
        fields.extend(change);
        serde_json::from_value(json!({ "flow": flow, "refs": named })).unwrap()
    }

    fn of(task: &Task, flow: Option<&FlowRun>) -> Hash {
        identity_of("/work", task, flow).unwrap()
    }

    #[test]
    fn a_task_that_says_something_else_is_another_one() {
        let known = of(&task(json!({})), None);
        for other in [
            json!({ "goal": "Report!" }),
            json!({ "context": { "month": "June" } }),
            json!({ "tools": ["file_write", "shell_execute"] }),
            json!({ "expectedOutput": "A report." }),
            json!({ "models": { "planner": "a:b" } }),
            json!({ "hooks": [{ "kind": "command" }] }),
            json!({ "whatALaterVersionKnows": 1 }),
        ] {
            assert_ne!(of(&task(other.clone()), None), known, "{other}");
        }
        for same in [
            json!({ "name": "Report of May" }),
            json!({ "limits": { "maxCycles": 2 } }),
            json!({ "approval": "never" }),
        ] {
            assert_eq!(of(&task(same.clone()), None), known, "{same}");
        }
        assert_ne!(identity_of("/elsewhere", &task(json!({})), None).unwrap(), known);
    }

    #[test]
    fn a_flow_with_other_steps_under_the_same_id_is_another_one() {
        let task = task(json!({}));
        let known = of(&task, Some(&flow(json!({}), json!({}))));
        let steps = json!([{ "id": "a", "tool": { "tool": "file_write", "args": {} } }]);
        assert_ne!(of(&task, Some(&flow(json!({ "steps": steps }), json!({})))), known);
        let named =
            |tool: &str| json!({ "g": { "id": "g", "steps": [{ "id": "b", "tool": { "tool": tool, "args": {} } }] } });
        let (one, other) = (
            flow(json!({}), named("file_read")),
            flow(json!({}), named("file_write")),
        );
        assert_ne!(of(&task, Some(&one)), of(&task, Some(&other)));
        let named_anew = flow(json!({ "name": "Other", "limits": { "maxSteps": 3 } }), json!({}));
        assert_eq!(of(&task, Some(&named_anew)), known);
        assert_ne!(of(&task, None), known);
    }

    #[test]
    fn a_server_that_is_started_otherwise_is_another_one() {
        let task = of(&task(json!({})), None);
        let launch = |text: &str| {
            let text = json!({ "mcpServers": { "notes": { "command": text } } }).to_string();
            mcp::paste::read(&text).unwrap().remove(0).config.launch
        };
        let known = identity_with(&task, "notes", &launch("serve")).unwrap();
        assert_ne!(identity_with(&task, "notes", &launch("steal")).unwrap(), known);
        assert_ne!(identity_with(&task, "other", &launch("serve")).unwrap(), known);
        assert_eq!(identity_with(&task, "notes", &launch("serve")).unwrap(), known);
    }
}
