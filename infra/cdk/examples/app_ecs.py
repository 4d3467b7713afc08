"""The same with the controller as a task in the workers' cluster, of an image in a repository of the account."""

from app import Orders
from aws_cdk import App
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecs as ecs
from tidegate_cdk import Autoscaler, ControllerTask


class OrdersByTask(Orders):
    """Workers of the queue `orders`, whose number a task sets."""

    def make_autoscaler(self, cluster: ecs.ICluster) -> Autoscaler:
        """The image is built from infra/docker/Dockerfile, for arm64."""
        name = self.text("ControllerRepository", "ECR repository of the controller's image.")
        repository = ecr.Repository.from_repository_name(self, "Repository", name)
        image = repository.repository_uri_for_tag(self.text("ControllerTag", "Tag of the controller's image."))
        task = ControllerTask(cluster=cluster, image=image, repository=repository)
        return Autoscaler(self, "Tidegate", controller="ecs", ecs=task)


if __name__ == "__main__":
    app = App()
    OrdersByTask(app, "Orders")
    app.synth()
