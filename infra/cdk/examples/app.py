"""A stack of everything: the controller, and one pool of Fargate tasks with a queue of its own.

What differs between accounts is a parameter of the stack, so that its template can be used without the CDK.
"""

from aws_cdk import App, BootstraplessSynthesizer, CfnParameter, Duration, Fn, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from constructs import Construct
from tidegate_cdk import Autoscaler, Pool


class Orders(Stack):
    """Workers that take messages from the queue `orders`, as many as keep the wait under the target."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id, synthesizer=BootstraplessSynthesizer(), analytics_reporting=False)
        service = self.make_service()
        pool = Pool(
            self,
            "Pool",
            autoscaler=self.make_autoscaler(service.cluster),
            name="orders",
            service=service,
            target_wait=Duration.seconds(self.number("TargetWaitSeconds", 30, "Messages are to wait no longer.")),
            max_workers=self.number("MaxWorkers", 20, "Never more workers than this."),
            slots_per_worker=self.number("SlotsPerWorker", 4, "Messages that one worker handles at a time."),
            alarm_topics=[sns.Topic.from_topic_arn(self, "Topic", self.text("AlarmTopicArn", "Is told of alarms."))],
        )
        pool.equip(service.task_definition)

    def make_autoscaler(self, cluster: ecs.ICluster) -> Autoscaler:
        """With the CDK: package=lambda_.Code.from_asset("lambda/dist/tidegate-aarch64-python3.13.zip")."""
        return Autoscaler(self, "Tidegate", package=self.package())

    def make_service(self) -> ecs.FargateService:
        """Without a desired count, which is tidegate's to set: a deployment leaves it as it is."""
        subnets = CfnParameter(self, "Subnets", type="List<AWS::EC2::Subnet::Id>", description="Two, of the workers.")
        vpc = ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=self.text("VpcId", "The subnets' VPC.", "AWS::EC2::VPC::Id"),
            availability_zones=[Fn.select(0, Fn.get_azs()), Fn.select(1, Fn.get_azs())],
            private_subnet_ids=[Fn.select(0, subnets.value_as_list), Fn.select(1, subnets.value_as_list)],
        )
        cluster = ecs.Cluster(self, "Cluster", vpc=vpc, container_insights_v2=ecs.ContainerInsights.ENABLED)
        task = ecs.FargateTaskDefinition(self, "Task", cpu=512, memory_limit_mib=1024)
        task.add_container(
            "worker",
            image=ecs.ContainerImage.from_registry(self.text("WorkerImage", "Your handler with tidegate installed.")),
            command=["tidegate", "work", "shop.jobs:handle"],
            stop_timeout=Duration.seconds(120),
            readonly_root_filesystem=True,
            logging=ecs.LogDriver.aws_logs(
                stream_prefix="worker",
                log_group=logs.LogGroup(self, "WorkerLog", retention=logs.RetentionDays.ONE_MONTH),
            ),
        )
        return ecs.FargateService(
            self, "Service", cluster=cluster, task_definition=task, min_healthy_percent=100, max_healthy_percent=200,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
        )  # fmt: skip

    def package(self) -> lambda_.Code:
        """Where the zip that `make lambda` writes has been put."""
        return lambda_.Code.from_cfn_parameters(
            bucket_name_param=CfnParameter(self, "PackageBucket", description="Bucket of the function's zip."),
            object_key_param=CfnParameter(self, "PackageKey", description="Key of the zip that make lambda wrote."),
        )

    def number(self, name: str, default: int, meaning: str) -> int:
        """A parameter's value, known at deployment."""
        parameter = CfnParameter(self, name, type="Number", default=default, min_value=1, description=meaning)
        return int(parameter.value_as_number)

    def text(self, name: str, meaning: str, kind: str = "String") -> str:
        """A parameter's value, known at deployment."""
        return CfnParameter(self, name, type=kind, description=meaning).value_as_string


if __name__ == "__main__":
    app = App()
    Orders(app, "Orders")
    app.synth()
