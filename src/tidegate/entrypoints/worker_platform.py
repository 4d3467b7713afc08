"""What the platform that a worker runs on can be asked: to spare it, whether its instance is about to go, to wait."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass

from tidegate.aws.asg_instance import AsgInstance
from tidegate.aws.ecs_agent import EcsAgent
from tidegate.aws.imds import Imds
from tidegate.errors import ConfigError, Fault
from tidegate.ports import InstanceWatch, ScaleInProtection, TerminationHook
from tidegate.worker.settings.worker_settings import WorkerSettings

__all__ = ["WorkerPlatform", "open_platform"]


@dataclass(frozen=True, slots=True)
class WorkerPlatform:
    """None: there is nothing to ask."""

    protection: ScaleInProtection | None = None
    instance: InstanceWatch | None = None
    hook: TerminationHook | None = None


async def open_platform(
    settings: WorkerSettings, environ: Mapping[str, str], clock: Callable[[], float], stack: AsyncExitStack
) -> WorkerPlatform:
    """In a task, its container agent; on an instance of the group that the settings name, that group.

    Raises ConfigError when they name a group where there is no IMDS, and the CloudError tree when that can't be read.
    """
    imds = Imds.from_environment(environ, clock)
    instance = imds if settings.notices else None
    if settings.asg is None:
        return WorkerPlatform(EcsAgent.from_environment(environ) if settings.protect else None, instance)
    if imds is None:
        problem = "this is no instance of a group: it has no IMDS"
        raise ConfigError([Fault("asg", settings.asg, problem, "leave it out here, or turn IMDS on")])
    member = await AsgInstance.connect(
        settings.asg, await imds.instance_id(), settings.lifecycle_hook or "", region=settings.region
    )
    stack.push_async_callback(member.close)
    hook = member if settings.lifecycle_hook is not None else None
    return WorkerPlatform(member if settings.protect else None, instance, hook)
